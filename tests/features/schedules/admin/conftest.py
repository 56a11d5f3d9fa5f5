"""Operators and a recipient, as in `tests/admin`."""

from tests.admin.conftest import (
    _own_answers,
    _quick_passwords,
    door,
    maria,
    operator,
    viewer,
    window,
)

__all__ = ["_own_answers", "_quick_passwords", "door", "maria", "operator", "viewer", "window"]
