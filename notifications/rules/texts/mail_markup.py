"""Limits on the HTML of a mail, checked before the CSS inliner builds a tree.

The inliner is native code and recurses: thirty thousand unclosed `<div>` end the whole process. An
open formatting element is repeated in every later paragraph, and each declaration is written on
each matching element. So one pass counts tags first.

The tree of accepted HTML is at most about twice MAX_OPEN deep and has at most `elements` elements,
because tags are read more strictly than in browsers (`<`, `>` and stray quotes stand in no tag) and
elements with rules of their own (`REFUSED`) are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from notifications.rules.language.syntax import BrokenTemplate, TemplateFault

MAX_OPEN: Final = 250
"""Elements open at once; nested tables have thirty. A stack of eight megabytes is enough for more
than ten times as many."""
MAX_ELEMENTS: Final = 50_000
"""Ten times a long newsletter; building them takes a tenth of a second."""
REFUSED: Final = frozenset(
    {"frameset", "iframe", "math", "noembed", "noframes", "noscript", "plaintext", "script"}
    | {"select", "svg", "template", "textarea", "xmp"}
)
"""Elements that mail programs leave out."""
_RAW: Final = frozenset({"style", "title"})
"""Elements without markup inside."""
_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"}
    | {"u"}
)
_VOID: Final = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)
_CLOSED_BY_THEIR_LIKE: Final = frozenset({"dd", "dt", "li", "option", "p", "td", "th", "tr"})
_UNCLOSED: Final = frozenset({"dd", "dt", "li", "option", "p"})
_CELLS: Final = frozenset({"tbody", "td", "tfoot", "th", "thead", "tr"})
_CLOSING: Final = {
    **dict.fromkeys(("blockquote", "center", "div", "dl", "ol", "td", "th", "ul"), _UNCLOSED),
    **dict.fromkeys(("table", "tbody", "tfoot", "thead", "tr"), _UNCLOSED | _CELLS),
}
"""Element -> elements within it that its end closes, too."""
_TAG: Final = re.compile(
    r"</?+(?P<name>[a-z][^\s\"'<>/=]*+)"
    r"(?:[\s/]++|[^\s\"'<>/=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'<>]++))?+)*+>"
)
_COMMENT_END: Final = re.compile("--!?>")
_ODD_COMMENT: Final = re.compile("<!---?>")
"""A whole comment to browsers, and the beginning of one to other readers."""
_CONDITION: Final = re.compile(r"<!\[(?:if|else|endif)\b[^<>\]]*+\]>")
"""Outlook's, outside a comment."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Counts of a source."""

    elements: int
    """Upper bound."""
    declarations: int
    """Upper bound for its style sheets; selectors count too."""


def measure(html: str) -> Markup:
    """Count the HTML of a source without variables and statements.

    Raises:
        BrokenTemplate: the source is too large, or a tag is not closed.
    """
    scan = _Scan(html.lower())
    while (at := scan.html.find("<", scan.at)) >= 0:
        scan.at = at
        scan.step()
    return Markup(scan.elements, scan.declarations)


class _Scan:
    """A single pass over the source, from `<` to `<`."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.at = 0
        self.elements = 0
        self.declarations = 0
        self._open: list[str] = []
        self._formatting = 0

    def step(self) -> None:
        """Read the tag, the comment or the bare `<` at `at`."""
        following = self.html[self.at + 1 : self.at + 2]
        if self.html.startswith("<!--", self.at):
            self._comment()
        elif following in {"!", "?"}:
            self._declaration()
        elif following == "/" or (following.isascii() and following.isalpha()):
            self._tag()
        else:
            self.at += 1

    def _comment(self) -> None:
        end = _COMMENT_END.search(self.html, self.at + len("<!--"))
        if end is None or end[0] != "-->" or _ODD_COMMENT.match(self.html, self.at):
            self._refuse("a comment must begin with <!-- and a space, and end with -->")
        self.at = end.end()

    def _declaration(self) -> None:
        end = self._end()
        if self.html.startswith("<![", self.at):
            condition = _CONDITION.match(self.html, self.at)
            end = (
                condition.end()
                if condition
                else self._refuse(
                    "invalid declaration; use <!DOCTYPE html> or a conditional comment"
                )
            )
        self.at = end

    def _tag(self) -> None:
        end = self._end()
        tag = _TAG.fullmatch(self.html, self.at, end)
        name = (
            tag["name"]
            if tag
            else self._refuse("invalid tag; write &lt; for the character < in text")
        )
        self.elements += 1 + self._formatting
        if self.elements > MAX_ELEMENTS:
            self._refuse(f"more than {MAX_ELEMENTS} elements")
        if self.html[self.at + 1] == "/":
            self._close(name)
        elif name not in _VOID:
            self._enter(name)
        self.at = self._past(name, end) if self._open[-1:] == [name] and name in _RAW else end

    def _end(self) -> int:
        end = self.html.find(">", self.at)
        if end < 0 or self.html.find("<", self.at + 1, end) >= 0:
            self._refuse("a tag is not closed; in text, write &lt;")
        return end + 1

    def _enter(self, name: str) -> None:
        if name in REFUSED:
            self._refuse(f"{name} has no place in a mail")
        if name in _CLOSED_BY_THEIR_LIKE:
            self._close(name)
        self._open.append(name)
        self._formatting += name in _FORMATTING
        if len(self._open) > MAX_OPEN:
            self._refuse(f"more than {MAX_OPEN} elements within each other: close them")

    def _close(self, name: str) -> None:
        depth = len(self._open)
        while depth and self._open[depth - 1] != name:
            if self._open[depth - 1] not in _CLOSING.get(name, ()):
                return
            depth -= 1
        if depth:
            del self._open[depth:]
            self._open.pop()
            self._formatting -= name in _FORMATTING

    def _past(self, name: str, begin: int) -> int:
        """Return the end of a style sheet or title."""
        end = self.html.find(f"</{name}", begin)
        if end < 0:
            self._refuse(f"{name} is not closed")
        if name == "style":
            self.declarations += sum(map(self.html[begin:end].count, "{;,"))
        return end

    def _refuse(self, detail: str) -> NoReturn:
        line = 1 + self.html.count("\n", 0, self.at)
        raise BrokenTemplate([TemplateFault(line, detail)])
