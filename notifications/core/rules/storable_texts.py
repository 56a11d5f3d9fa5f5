"""Texts of vendors in a form that JSON and Postgres take."""

from __future__ import annotations


def storable(text: str) -> str:
    """Return a text without NUL and without half of a surrogate pair."""
    if text.isascii() and "\0" not in text:
        return text
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "")
