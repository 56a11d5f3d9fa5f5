"""Limits on the HTML of a mail, checked before the CSS inliner builds a tree.

The inliner is native code and recurses: thirty thousand unclosed `<div>` end the whole process. An
open formatting element is repeated in every later paragraph. So one pass counts tags first;
`mail_styles` estimates the cost of a style sheet from the counts.

The tree of accepted HTML is at most about twice MAX_OPEN deep and has at most `elements` elements,
because tags are read more strictly than in browsers (`<`, `>` and stray quotes stand in no tag) and
elements with special rules (`REFUSED`) are refused. Space and lower case are those of HTML: Python
takes a no-break space in a name for space, and the sign of the kelvin for the letter k.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from notifications.core.rules.language.syntax import BrokenTemplate, TemplateFault

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
_SPACE: Final = r" \t\n\r\f"
_RAW: Final = frozenset({"style", "title"})
"""Elements without markup inside."""
_RAW_END: Final = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])") for name in _RAW}
_MADE_BY_END: Final = frozenset({"br", "p"})
"""Elements that an end tag without a start tag makes."""
STATEMENT: Final = "\f"
"""Stands for each character of a statement: space to the parsers of HTML and CSS that no author
writes."""
_SHORTEST_STATEMENT: Final = len("{##}")
_COMPARE: Final = 20
"""Nanoseconds: an element with one term of a selector, at most."""
_READ_CHARACTER: Final = 2
"""Nanoseconds for each character of a class attribute."""
_COPY_ATTRIBUTE: Final = 400
"""Nanoseconds to read or to copy an attribute, or to sort it before a comparison of two tags."""
_COPY_CHARACTER: Final = 30
"""Nanoseconds to copy a character of a tag and to write it."""
_ROOTS: Final = 3 * _COMPARE
"""The document, html and body, above each element."""
_FORMATTING: Final = frozenset(
    {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"}
    | {"u"}
)
_COLLECTING: Final = frozenset({"body", "html"})
"""Elements that take the attributes of all their tags."""
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
_NAME: Final = rf"[^{_SPACE}\"'<>/=]"
_VALUE: Final = rf"(?:\"[^\"]*+\"|'[^']*+'|[^{_SPACE}\"'<>]++)"
_TAG: Final = re.compile(
    rf"</?+(?P<name>[a-z]{_NAME}*+)"
    rf"(?:[{_SPACE}/]++|{_NAME}++(?:[{_SPACE}]*+=[{_SPACE}]*+{_VALUE})?)*>"
)
_ATTRIBUTE: Final = re.compile(rf"\f++|{_NAME}++(?:[ \t\n\r]*+=[ \t\n\r]*+{_VALUE})?")
_QUOTE_AFTER_STATEMENT: Final = re.compile(rf"=[ \t\n\r]*+\f[{_SPACE}]*+[\"']")
"""A quote that the inliner takes for a character: the mark before it begins the value."""
_WORD: Final = re.compile(rf"\f++|[^{_SPACE}/\"']++|[\"']")
"""The least part that can be an attribute, whatever the quotes around it mean."""
_CLASS: Final = re.compile(rf"\bclass[{_SPACE}]*+=[{_SPACE}]*+{_VALUE}")
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
    once: int
    """Nanoseconds to compare a class with each element."""
    with_ancestors: int
    """Nanoseconds to compare a class with each element and all its ancestors."""
    attributes: int
    """Nanoseconds to compare attributes with each other and to copy them, at most."""
    widest_tag: int
    """Characters of the longest tag."""
    widest_gap: int
    """Comments between two tags, at most."""
    sheets: tuple[str, ...]
    """Contents of the style elements, in lower case."""


def measure(html: str) -> Markup:
    """Count the HTML of a source without variables and statements.

    Raises:
        BrokenTemplate: the source is too large, or a tag is not closed.
    """
    scan = _Scan(_in_lower_case(html))
    while (at := scan.html.find("<", scan.at)) >= 0:
        scan.skip(at)
        scan.step()
    return Markup(
        elements=scan.elements,
        once=scan.once,
        with_ancestors=scan.with_ancestors,
        attributes=scan.attributes,
        widest_tag=scan.widest_tag,
        widest_gap=scan.widest_gap,
        sheets=tuple(scan.sheets),
    )


def _in_lower_case(html: str) -> str:
    """Return the HTML with A to Z in lower case; other letters stay, as they do in browsers."""
    return html.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")


class _Scan:
    """A single pass over the source, from `<` to `<`."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.at = 0
        self.elements = self.once = self.with_ancestors = self.attributes = 0
        self.widest_tag = self.widest_gap = 0
        self.sheets: list[str] = []
        self._open: list[str] = []
        self._costs = [_ROOTS]
        """Nanoseconds to compare a class with the open elements, up to each of them."""
        self._formatting = self._dearest = self._gap = 0
        self._dearest_copy = self._collected = 0

    def skip(self, at: int) -> None:
        """Go over text to `at`; a statement in it becomes a comment."""
        self._add_to_gap(self.html.count(STATEMENT, self.at, at) // _SHORTEST_STATEMENT)
        self.at = at

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
        self._add_to_gap(1)

    def _add_to_gap(self, comments: int) -> None:
        self._gap += comments
        self.widest_gap = max(self.widest_gap, self._gap)

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
        self._add_to_gap(1)

    def _tag(self) -> None:
        end = self._end()
        tag = _TAG.fullmatch(self.html, self.at, end)
        if tag is None:
            self._refuse("invalid tag; write &lt; for the character < in text")
        name = tag["name"]
        self._count_attributes(name, tag[0][tag.end("name") - self.at :])
        is_end = self.html[self.at + 1] == "/"
        cost = self._count(name, self.html[self.at : end], is_end=is_end)
        if is_end:
            self._close(name)
        elif name not in _VOID:
            self._enter(name, cost)
        self.at = self._past(name, end) if self._open[-1:] == [name] and name in _RAW else end

    def _count(self, name: str, tag: str, *, is_end: bool) -> int:
        """Count the elements of a tag; return the nanoseconds to compare a class with the tag."""
        cost = _COMPARE + _READ_CHARACTER * sum(map(len, _CLASS.findall(tag)))
        self._dearest = max(self._dearest, cost)
        self.widest_tag = max(self.widest_tag, len(tag))
        self._gap = 0
        repeated = self._formatting * self._dearest
        own = 0 if is_end and name not in _MADE_BY_END else cost
        self.elements += self._formatting + (own > 0)
        if self.elements > MAX_ELEMENTS:
            self._refuse(f"more than {MAX_ELEMENTS} elements")
        self.once += repeated + own
        above = self._costs[-1] + repeated
        self.with_ancestors += self._formatting * above + (own and above + own)
        return cost

    def _count_attributes(self, name: str, words: str) -> None:
        """Count the work of a tag's attributes, given the characters after the tag's name.

        A parser compares each name with all earlier ones of the tag, and a tag of a formatting
        element with all that are open.
        """
        part = _WORD if _QUOTE_AFTER_STATEMENT.search(words) else _ATTRIBUTE
        count = len(part.findall(words))
        copy = count * _COPY_ATTRIBUTE + len(words) * _COPY_CHARACTER
        if name in _FORMATTING:
            self._dearest_copy = max(self._dearest_copy, copy)
        if name in _COLLECTING:
            self.attributes += 2 * self._collected * (count + 1)
            self._collected += count
        self.attributes += count * count + copy + self._formatting * self._dearest_copy

    def _end(self) -> int:
        end = self.html.find(">", self.at)
        if end < 0 or self.html.find("<", self.at + 1, end) >= 0:
            self._refuse("a tag is not closed; in text, write &lt;")
        return end + 1

    def _enter(self, name: str, cost: int) -> None:
        if name in REFUSED:
            self._refuse(f"{name} has no place in a mail")
        if name in _CLOSED_BY_THEIR_LIKE:
            self._close(name)
        self._open.append(name)
        self._costs.append(self._costs[-1] + cost)
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
            del self._open[depth - 1 :]
            del self._costs[depth:]
            self._formatting -= name in _FORMATTING

    def _past(self, name: str, begin: int) -> int:
        """Return the end of a style sheet or title."""
        end = _RAW_END[name].search(self.html, begin)
        if end is None:
            self._refuse(f"{name} is not closed")
        if name == "style":
            self.sheets.append(self.html[begin : end.start()])
        return end.start()

    def _refuse(self, detail: str) -> NoReturn:
        line = 1 + self.html.count("\n", 0, self.at)
        raise BrokenTemplate([TemplateFault(line, detail)])
