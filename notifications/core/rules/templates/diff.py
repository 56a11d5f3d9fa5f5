"""Differences between two versions of a template, in the lines of their files."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from notifications.core.rules.templates import file_format
from notifications.core.rules.templates.contents import TemplateContent

CONTEXT: Final = 3
"""Unchanged lines around a change, as git has it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the old and of the new text; None where a text lacks the line."""

    old: str | None
    new: str | None

    @property
    def is_change(self) -> bool:
        """True if the sides differ in the line."""
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class FileChange:
    """A changed file."""

    name: str
    rows: tuple[Row, ...]


def unified_diff(
    old: TemplateContent, new: TemplateContent, *, old_name: str, new_name: str
) -> str:
    """Return the differences as a patch; empty without differences."""
    return "".join(
        line
        for name, before, after in _changes(old, new)
        for line in difflib.unified_diff(
            before, after, f"{old_name}/{name}", f"{new_name}/{name}", n=CONTEXT
        )
    )


def side_by_side(old: TemplateContent, new: TemplateContent) -> list[FileChange]:
    """Return the differing files, whole."""
    return [
        FileChange(name, tuple(_rows(before, after))) for name, before, after in _changes(old, new)
    ]


def _changes(
    old: TemplateContent, new: TemplateContent
) -> Iterator[tuple[str, list[str], list[str]]]:
    before, after = file_format.write(old), file_format.write(new)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield name, _lines(before.get(name, "")), _lines(after.get(name, ""))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _rows(before: list[str], after: list[str]) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for _, start, end, new_start, new_end in matcher.get_opcodes():
        pairs = itertools.zip_longest(before[start:end], after[new_start:new_end])
        for old, new in pairs:
            yield Row(*(line if line is None else line.rstrip("\n") for line in (old, new)))
