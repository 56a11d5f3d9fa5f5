"""A browser that is given the bare address finds something."""

from __future__ import annotations

from django.test import Client


def test_the_front_page_leads_to_the_documentation() -> None:
    answer = Client().get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/v1/docs")


def test_there_is_an_icon() -> None:
    answer = Client().get("/favicon.ico")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")
