r"""The texts of a mail in blocks, apart from the marks of Markdown and of directives.

    ::: button [Pay now]({{ url }})     the label
    # Hello {{ name }}                  the heading
    | Article | {{ item.price }} |      each cell
    - a red chair                       each item of a list
    ![A red chair](https://...)         the description of an image on a line of its own
    a paragraph                         with its lines

All parts together are the source without its comments. A translation can turn a paragraph into a
heading by a `#`, so an import compares the blocks of both: `has_blocks_of`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from notifications.core.rules.language.syntax import BrokenTemplate
from notifications.core.rules.texts import mail_block_tree, mail_blocks
from notifications.core.rules.texts.mail_block_tree import Marked

_DIRECTIVE: Final = re.compile(r"[ \t]{0,3}:::")
_PREHEADER: Final = re.compile(r"([ \t]{0,3}:::[ \t]*preheader[ \t]+)(.+)()")
_BUTTON: Final = re.compile(r"([ \t]{0,3}:::[ \t]*button[ \t]+\[)(.+)(\]\([^()\s]*\)[ \t]*)")
_HEADING: Final = re.compile(r"( {0,3}#{1,6}[ \t]+)(.+)()")
_IMAGE: Final = re.compile(r"([ \t]*!\[)([^\[\]]+)(\]\([^()]*\)[ \t]*)")
_DIVIDER: Final = re.compile(r"( {0,3})([-*_])([ \t]*\2){2,}[ \t]*")
_ITEM: Final = re.compile(r"([ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)(.+)()")
_BELOW_HEADER: Final = re.compile(
    r"[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?"
)
"""Each space has one place in the pattern, or else the time grows with the square of the spaces."""
_CELL_END: Final = re.compile(r"(?<!\\)(\|)")
_ELEMENT: Final = re.compile(r"</?(?:div|h[1-6]|hr|li|ol|p|t[dhr]|table|ul)\b")
"""The elements of a mail outside of its lines."""
_WHOLE_LINES: Final = (_PREHEADER, _BUTTON, _HEADING, _IMAGE)
"""Lines with one text: before, text, after."""


@dataclass(frozen=True, slots=True)
class BlockPart:
    """A part of a source."""

    text: str
    is_text: bool
    """True for a text, False for marks between texts."""


def split(source: str) -> list[BlockPart]:
    """Return the parts of a source; a broken source is one text."""
    try:
        marked = mail_block_tree.mark(source)
    except BrokenTemplate:
        return [BlockPart(source, is_text=True)]
    parts = _Lines(marked.text.split("\n")).parts()
    return [_restore(part, marked) for part in parts if part.text]


def join(parts: Iterable[BlockPart]) -> str:
    """Return the source of the parts."""
    return "".join(part.text for part in parts)


def has_blocks_of(source: str, parts: Sequence[BlockPart]) -> bool:
    """Return True if the joined parts are split into the same parts, and make the same elements.

    A source with a fault, which `wording.fault_sentences` names, has no elements to compare.
    """
    made = join(parts)
    if split(made) != list(parts):
        return False
    try:
        return _elements(made) == _elements(source)
    except BrokenTemplate:
        return True


def _elements(source: str) -> list[str]:
    return _ELEMENT.findall(mail_blocks.compile_blocks(source, locale="en").html)


def _restore(part: BlockPart, marked: Marked) -> BlockPart:
    return replace(part, text=marked.restore(part.text))


class _Lines:
    """Splits the lines of a source in which marks stand for the variables."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._open: list[str] = []
        """Lines of a paragraph or of an item of a list, to which the next line can belong."""
        self._found: list[BlockPart] = []

    def parts(self) -> list[BlockPart]:
        """Return the parts; marks side by side are one part."""
        rows = set(_rows(self._lines))
        for number, line in enumerate(self._lines):
            if number:
                self._end_line(line, is_row=number in rows)
            self._add(line, is_row=number in rows)
        self._close()
        return list(_merge(self._found))

    def _end_line(self, following: str, *, is_row: bool) -> None:
        if self._open and not is_row and _continues(following):
            return
        self._close()
        self._mark("\n")

    def _add(self, line: str, *, is_row: bool) -> None:
        if is_row:
            self._add_row(line)
        elif not line.strip() or _DIVIDER.fullmatch(line):
            self._mark(line)
        elif whole := next(filter(None, (each.fullmatch(line) for each in _WHOLE_LINES)), None):
            before, text, after = whole.groups()
            self._mark(before)
            self._text(text)
            self._mark(after)
        elif _DIRECTIVE.match(line):
            self._mark(line)
        elif item := _ITEM.fullmatch(line):
            self._mark(item[1])
            self._open = [item[2]]
        else:
            self._open.append(line)

    def _add_row(self, line: str) -> None:
        if _BELOW_HEADER.fullmatch(line):
            self._mark(line)
            return
        for place, cell in enumerate(_CELL_END.split(line)):
            if place % 2:
                self._mark(cell)
            else:
                self._text(cell)

    def _close(self) -> None:
        if self._open:
            self._text("\n".join(self._open))
        self._open = []

    def _text(self, text: str) -> None:
        """Add a text; the space around it is a mark."""
        inner = text.strip()
        start = text.find(inner)
        self._mark(text[:start])
        self._found.append(BlockPart(inner, is_text=True))
        self._mark(text[start + len(inner) :])

    def _mark(self, text: str) -> None:
        self._found.append(BlockPart(text, is_text=False))


def _continues(line: str) -> bool:
    """Return True for a line that belongs to the paragraph above it."""
    begins = any(each.fullmatch(line) for each in (*_WHOLE_LINES, _DIVIDER, _ITEM))
    return bool(line.strip()) and not begins and _DIRECTIVE.match(line) is None


def _rows(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines that are rows of tables."""
    is_in_table = False
    for number, line in enumerate(lines):
        is_below = bool(number) and "|" in line and _BELOW_HEADER.fullmatch(line)
        if is_below and "|" in lines[number - 1]:
            yield number - 1
            is_in_table = True
        elif not line.strip() or _DIRECTIVE.match(line):
            is_in_table = False
        if is_in_table:
            yield number


def _merge(parts: Iterable[BlockPart]) -> Iterator[BlockPart]:
    marks = ""
    for part in parts:
        if not part.text:
            continue
        if part.is_text:
            if marks:
                yield BlockPart(marks, is_text=False)
            yield part
            marks = ""
        else:
            marks += part.text
    if marks:
        yield BlockPart(marks, is_text=False)
