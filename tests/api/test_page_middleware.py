"""Requests of the API pass by what only pages for people need."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils.module_loading import import_string

from notifyproj import settings

pytestmark = pytest.mark.django_db
PAGES = [name for name in settings.MIDDLEWARE if name.startswith("notifyproj.pages.")]


def _after_all(path: str) -> HttpRequest:
    request = RequestFactory().get(path)

    def answer(_request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    for name in reversed(PAGES):
        answer = import_string(name)(answer)
    answer(request)
    return request


@pytest.mark.parametrize(("path", "expected"), [("/v1/me", False), ("/admin/", True)])
def test_only_pages_have_a_session_a_user_and_messages(path: str, *, expected: bool) -> None:
    request = _after_all(path)
    assert len(PAGES) == 6  # the check of the Host header looks at both
    assert [hasattr(request, name) for name in ("session", "user", "_messages")] == [expected] * 3


def test_a_page_still_asks_for_a_csrf_token() -> None:
    client = Client(enforce_csrf_checks=True)
    asked = {"username": "somebody", "password": "wrong"}
    refused = client.post("/admin/login/", asked)
    assert refused.status_code == 403
    assert "The form has expired" in refused.content.decode()
