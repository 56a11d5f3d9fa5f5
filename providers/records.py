"""Immutable values that are made for each call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Made = TypeVar("Made")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(made: type[Made]) -> type[Made]:
    """Make a class a dataclass with keyword arguments and slots, whose fields nobody assigns.

    The type checker refuses an assignment. A frozen dataclass would refuse the assignment at run
    time too, which makes the creation of an object of eight fields three times as long.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(made)
