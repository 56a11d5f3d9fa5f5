"""Operators and a browser, as in `tests/admin`."""

from tests.admin.conftest import (
    _own_answers,
    _quick_passwords,
    browser,
    chromium,
    door,
    operator,
    viewer,
    window,
)

__all__ = [
    "_own_answers",
    "_quick_passwords",
    "browser",
    "chromium",
    "door",
    "operator",
    "viewer",
    "window",
]
