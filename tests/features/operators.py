"""The fixtures of `tests/admin` for pages of features: operators and a browser.

Each `admin/conftest.py` of a feature imports all of them.
"""

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
