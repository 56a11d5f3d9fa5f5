"""The blocks of a mail's source: directives and the Markdown between them, with their lines.

    ::: if total      If(then=[Markdown, Columns(...)], otherwise=[])
    # Your order
    ::: columns
    ...

Each `{{ variable }}` is a mark while the source is read, so that Markdown never looks into one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

from notifications.core.rules.language import addresses, templating
from notifications.core.rules.language.syntax import BrokenTemplate, TemplateFault
from notifications.core.rules.language.variables import SERVICE_NAMES
from notifications.core.rules.texts import mail_html

MAX_BLOCKS: Final = 300
"""Directives of a source; a long newsletter has fifty."""
MAX_NESTING: Final = 4
"""Open directives: columns in a condition in a condition, and one more."""
MAX_COLUMNS: Final = 4
"""Columns side by side; a fifth is narrower than a word."""
MAX_CELLS: Final = 12
"""Columns of a Markdown table; a thirteenth is narrower than a word."""
_MARK: Final = re.compile("\ue000(\\d{1,6})([\ue001-\ue003])")
"""A mark, with the number of the variable and the place of the mark."""
_BEGIN: Final = "\ue000"
_END: Final = "\ue001"
LINK_END: Final = "\ue002"
"""Ends the mark of a variable that begins the address of a link."""
IMAGE_END: Final = "\ue003"
"""Ends the mark of a variable that begins the address of an image."""
_OURS: Final = re.compile("[\ue000-\ue003]")
_FILTERS: Final = {LINK_END: addresses.LINK, IMAGE_END: addresses.IMAGE}
_EXPRESSION: Final = re.compile(r"\{\{[-+]?(.*?)-?\}\}")
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
_DIRECTIVE: Final = re.compile(r"[ \t]{0,3}:::(.*)")
_LOOP: Final = re.compile(r"[A-Za-z]\w* in [A-Za-z][\w.]*", re.ASCII)
_NAMES: Final = ("preheader", "button", "columns", "column", "table", "if", "else", "end")


@dataclass(frozen=True, slots=True)
class Markdown:
    """Text between directives."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Preheader:
    """The line that mail programs show beside the subject."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Button:
    """A button: one Markdown link."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Columns:
    """Blocks side by side."""

    line: int
    columns: list[list[Block]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Table:
    """A Markdown table, of which the rows are repeated."""

    line: int
    loop: str
    """`item in items`."""
    content: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class If:
    """Blocks that depend on a condition."""

    line: int
    condition: str
    then: list[Block] = field(default_factory=list)
    otherwise: list[Block] = field(default_factory=list)


Block = Markdown | Preheader | Button | Columns | Table | If


@dataclass(frozen=True, slots=True)
class Marked:
    """A source with a mark in place of each variable."""

    text: str
    kept: tuple[str, ...]
    """The variables, by the number of their mark."""

    def restore(self, html: str) -> str:
        """Return the text with the variables in place of their marks."""
        return _MARK.sub(self._restore_expression, html)

    def _restore_expression(self, found: re.Match[str]) -> str:
        number, name = int(found[1]), _FILTERS.get(found[2])
        kept = self.kept[number] if number < len(self.kept) else ""
        expression = _EXPRESSION.fullmatch(kept)
        if name is None or expression is None:
            return kept
        is_whole = found.string.startswith('"', found.end())
        return f"{{{{ ({expression[1].strip()})|{name}{'' if is_whole else '(required=true)'} }}}}"


def as_address(marked: str, end: str) -> str:
    """Return the marked address of a link or an image; a variable at its begin is checked later.

    Args:
        marked: the address, with marks.
        end: `LINK_END` or `IMAGE_END`.
    """
    return marked.replace(_END, end, 1) if marked.startswith(_BEGIN) else marked


def refuse(line: int, detail: str) -> NoReturn:
    """Refuse a source.

    Raises:
        BrokenTemplate: with the line and the detail.
    """
    raise BrokenTemplate([TemplateFault(line, detail)])


def mark(source: str) -> Marked:
    """Return the source with marks in place of its variables, and without its comments.

    Raises:
        BrokenTemplate: a variable is no expression of the template language, or there is a
            statement; with the line.
    """
    page: list[str] = []
    kept: list[str] = []
    faults: list[TemplateFault] = []
    # As the lexer reads a source.
    source = source.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    line, length = 1, 0
    for kind, text in mail_html.statements(source):
        faults += _faults_of(kind, text, line)
        match kind:
            case "data":
                page.append(_OURS.sub("", text))
            case "variable":
                page.append(f"\ue000{len(kept)}\ue001")
                kept.append(text)
            case _:
                page.append("\n" * text.count("\n"))
        line += text.count("\n")
        length += len(text)
    if length < len(source):
        faults.append(TemplateFault(line, "a {{, {% or {# has no end"))
    if faults:
        raise BrokenTemplate(faults)
    return Marked("".join(page), tuple(kept))


def read(marked: Marked) -> list[Block]:
    """Return the blocks of a source.

    Raises:
        BrokenTemplate: a directive is unknown, misplaced or not ended.
    """
    reader = _TreeReader()
    for number, line in enumerate(marked.text.split("\n"), start=1):
        reader.add(number, line)
    return reader.end()


class _TreeReader:
    """Reads the lines of a source into a tree."""

    def __init__(self) -> None:
        self._top: list[Block] = []
        self._open: list[Columns | Table | If] = []
        self._into = [self._top]
        """Destinations of the next block: the page, then a list for each open directive."""
        self._lines: list[str] = []
        self._begin = 1
        self._count = 0

    def add(self, number: int, line: str) -> None:
        found = _DIRECTIVE.fullmatch(line)
        if found is None:
            if line.count("|") > MAX_CELLS + 1:
                refuse(number, f"table: there are at most {MAX_CELLS} columns")
            self._lines.append(line)
            return
        self._flush(number + 1)
        name, _, rest = found[1].strip().partition(" ")
        self._count += 1
        if self._count > MAX_BLOCKS:
            refuse(number, f"more than {MAX_BLOCKS} directives")
        self._direct(number, name, rest.strip())

    def end(self) -> list[Block]:
        self._flush(0)
        if self._open:
            last = self._open[-1]
            refuse(last.line, f"{_name_of(last)}: the block has no ::: end")
        return self._top

    def _flush(self, following: int) -> None:
        text = "\n".join(self._lines)
        if text.strip():
            self._into[-1].append(Markdown(self._begin, text))
        self._lines, self._begin = [], following

    def _direct(self, line: int, name: str, rest: str) -> None:
        match name:
            case "columns" | "column" | "else" | "end" if rest:
                refuse(line, f"{name}: nothing follows the word")
            case "preheader":
                self._add_preheader(line, rest)
            case "button":
                self._add(Button(line, rest))
            case "columns":
                made = Columns(line, [[]])
                self._enter(made, made.columns[0])
            case "table":
                self._enter_table(line, rest)
            case "if":
                choice = If(line, _condition(line, rest))
                self._enter(choice, choice.then)
            case "column" | "else" | "end":
                self._continue(line, name)
            case _:
                refuse(line, f"there is no block {name[:40]!r}; there are {', '.join(_NAMES)}")

    def _add(self, block: Block) -> None:
        if self._open and isinstance(self._open[-1], Table):
            refuse(block.line, "table: the block holds one Markdown table and nothing else")
        self._into[-1].append(block)

    def _add_preheader(self, line: int, text: str) -> None:
        if self._open or any(isinstance(each, Preheader) for each in self._top):
            refuse(line, "preheader: a mail has one, outside of other blocks")
        if not text:
            refuse(line, "preheader: the text is missing: ::: preheader Your order is on its way")
        self._top.append(Preheader(line, text))

    def _enter_table(self, line: int, loop: str) -> None:
        if not _LOOP.fullmatch(loop):
            refuse(line, "table: write the repetition as ::: table item in items")
        if (name := loop.split(maxsplit=1)[0]) in SERVICE_NAMES:
            refuse(line, f"table: {name} is a name of the service; choose another for a row")
        _check(line, "table", f"{{% for {loop} %}}{{% endfor %}}")
        made = Table(line, loop)
        self._enter(made, made.content)

    def _enter(self, block: Columns | Table | If, into: list[Block]) -> None:
        if isinstance(block, Columns) and any(isinstance(each, Columns) for each in self._open):
            refuse(block.line, "columns: there are no columns in columns")
        self._add(block)
        self._open.append(block)
        self._into.append(into)
        if len(self._open) > MAX_NESTING:
            refuse(block.line, f"{_name_of(block)}: more than {MAX_NESTING} blocks in each other")

    def _continue(self, line: int, name: str) -> None:
        inner = self._open[-1] if self._open else None
        match name, inner:
            case "end", Columns() | Table() | If():
                _check_end(inner)
                self._open.pop()
                self._into.pop()
            case "column", Columns():
                if len(inner.columns) == MAX_COLUMNS:
                    refuse(line, f"column: there are at most {MAX_COLUMNS} columns")
                inner.columns.append([])
                self._into[-1] = inner.columns[-1]
            case "else", If() if self._into[-1] is inner.then:
                self._into[-1] = inner.otherwise
            case _:
                refuse(line, f"{name}: no block is open that it belongs to")


def _check_end(block: Columns | Table | If) -> None:
    match block:
        case Columns(line, columns) if len(columns) == 1:
            refuse(line, "columns: one column is none; begin the next with ::: column")
        case Table(line, content=content) if len(content) != 1:
            refuse(line, "table: the block holds one Markdown table and nothing else")
        case _:
            pass


def _name_of(block: Block) -> str:
    return type(block).__name__.lower()


def _faults_of(kind: str, text: str, line: int) -> Iterator[TemplateFault]:
    """Yield the faults of a piece of `mail_html.statements` that begins at a line."""
    if kind == "block":
        yield TemplateFault(line, "write a condition or a repetition as a block: ::: if, ::: table")
    elif kind == "variable":
        if "\n" in text:
            yield TemplateFault(line, "a variable stands on one line: {{ name }}")
        for fault in templating.check(text):
            yield TemplateFault(line, fault.detail)
    elif text.startswith("{%"):  # the only statement that comes as data
        yield TemplateFault(line, "raw is not available in blocks")
    elif found := _UNSENDABLE.search(text):
        at = line + text.count("\n", 0, found.start())
        yield TemplateFault(at, "a character cannot be written in a message")


def _condition(line: int, written: str) -> str:
    if not written:
        refuse(line, "if: the condition is missing: ::: if total > 100")
    if _MARK.search(written) or "%}" in written:
        refuse(line, "if: write the condition without braces: ::: if total > 100")
    _check(line, "if", f"{{% if {written} %}}{{% endif %}}")
    return written


def _check(line: int, name: str, statement: str) -> None:
    for fault in templating.check(statement):
        refuse(line, f"{name}: {fault.detail}")
