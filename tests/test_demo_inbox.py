"""The page `/demo/inbox`, without a browser."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from notifications.core.api import embed
from notifyproj.demo_inbox import COMPONENT


@pytest.fixture
def demo(settings: Settings, tmp_path: Path) -> None:
    settings.DEMO_FOLDER = tmp_path


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/demo/inbox"),
        ("get", "/demo/inbox/token"),
        ("get", "/demo/inbox/push-token"),
        ("get", "/demo/notify-sw.js"),
        ("post", "/demo/inbox/send"),
    ],
)
def test_without_the_demo_there_is_no_page(method: str, path: str) -> None:
    assert getattr(Client(), method)(path).status_code == 404


@pytest.mark.usefixtures("demo")
def test_the_page_shows_its_own_script_element() -> None:
    answer = Client().get("/demo/inbox")
    tag = embed.script_tag(COMPONENT, public_url="http://testserver")
    page = answer.content.decode()
    assert tag in page
    assert html.escape(tag) in page
    assert "unsafe" not in answer.headers["Content-Security-Policy"]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(("asked", "shown"), [("ar", "ar"), ("en", "en"), ("x'><b>", "en")])
def test_the_page_chooses_the_language(asked: str, shown: str) -> None:
    page = Client().get("/demo/inbox", {"lang": asked}).content.decode()
    assert f'locale="{shown}"' in page


@pytest.mark.usefixtures("demo")
def test_a_form_of_another_site_sends_nothing() -> None:
    answer = Client(enforce_csrf_checks=True).post("/demo/inbox/send", {"title": "Hello"})
    assert answer.status_code == 403


@pytest.mark.usefixtures("demo")
def test_missing_keys_are_named() -> None:
    answer = Client().get("/demo/inbox/token")
    assert (answer.status_code, "demo_keys.json" in answer.json()["detail"]) == (502, True)
