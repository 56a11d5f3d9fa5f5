"""Pages say what their browser may load."""

from __future__ import annotations

import pytest
from django.test import Client

from notifyproj.csp import HEADER


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/admin/login/", "/v1/docs", "/problems/invalid", "/admin/"])
def test_every_page_has_a_policy(path: str) -> None:
    policy = Client().get(path, follow=True)[HEADER]
    assert "default-src 'self'" in policy
    assert "script-src 'self' 'unsafe-eval'" in policy


@pytest.mark.django_db
def test_what_is_no_page_has_none_and_what_has_its_own_keeps_it() -> None:
    assert HEADER not in Client().get("/v1/schema")
    page = Client().get("/unsubscribe/nothing")
    assert page[HEADER].startswith("default-src 'none'")
