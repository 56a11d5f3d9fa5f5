"""Enums with a sentence for each member."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Described(StrEnum):
    """An enum of strings; `sentence` explains a member to a reader of the API or the admin."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Self:
        """Create a member from a value and a sentence."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member
