"""Confirmation pages, as a browser confirms them: with the hidden fields of what was shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from django.http import HttpResponse
from django.test import Client


def shown(page: bytes) -> dict[str, str]:
    """Return the hidden fields that tell what a page has shown."""
    return dict(re.findall(r'name="(shown\w*)" value="([^"]*)"', page.decode()))


def confirm(
    door: Client, url: str, fields: Mapping[str, object] | None = None, *, follow: bool = False
) -> HttpResponse:
    """Look at the page, and submit its form with the fields."""
    given = {**(fields or {}), **shown(door.get(url).content)}
    return cast("HttpResponse", door.post(url, given, follow=follow))


def answer(
    door: Client, url: str, fields: Mapping[str, object], *, asks: Mapping[str, str], by: str
) -> HttpResponse:
    """Submit a form for its question (`asks`), and the same fields with the confirmation `by`."""
    question = door.post(url, {**fields, **asks})
    name, _, value = by.partition("=")
    given = {**fields, **shown(question.content), name: value}
    return cast("HttpResponse", door.post(url, given))
