"""Expo push tokens: `ExponentPushToken[...]` and `ExpoPushToken[...]`.

A token of this form belongs to the provider `expo`: no other push vendor has such tokens.
"""

from __future__ import annotations

import re
from typing import Final

KIND: Final = "expo_token"
"""Kind of a contact with such a token."""

_TOKEN: Final = re.compile(r"Expo(?:nent)?PushToken\[[\x21-\x5a\x5e-\x7e]{1,200}\]")
"""Printable ASCII without brackets and backslash within the brackets; Expo's tokens have 22."""


def is_token(text: str) -> bool:
    """Return True for a text in the form of an Expo push token."""
    return _TOKEN.fullmatch(text) is not None
