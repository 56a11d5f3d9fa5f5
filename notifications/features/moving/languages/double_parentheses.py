"""Templates of GOV.UK Notify: variables, optional texts, and the formatting of e-mails.

    ((first name))            {{ first_name }}
    ((is late??You pay £5.))  the text if the value is yes, y, true, t, 1, include or show

The service compares names without case, spaces, `_` and `-`; here a name has small letters and `_`.
The rules are those of the class `Field` in notifications-utils.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from notifications.features.moving.languages import converted
from notifications.features.moving.languages.converted import NotConvertible

_PLACEHOLDER: Final = re.compile(r"\(\(([^()]+)\)\)")
_TRUE: Final = "('yes', 'y', 'true', 't', '1', 'include', 'show')"
_VARIABLE: Final = r"\{\{[^{}]*\}\}"
_LINK: Final = re.compile(
    rf"\[([^\[\]]+)\]\((https?://(?:{_VARIABLE}|[^()\s{{}}])+)\)"
    rf"|(https?://(?:{_VARIABLE}|[^\s<>\"{{}}])+)"
)
_ITEM: Final = re.compile(r"(?:[*•-]|(\d{1,4})\.)\s+(.+)")
_RULE: Final = re.compile(r"-{3,}|\*{3,}")
_HEADING: Final = re.compile(r"(##?)\s*([^#].*)")


class ParenthesesText(NamedTuple):
    """A converted source."""

    text: str
    renamed: dict[str, str]
    """Names with another spelling here."""


def convert(source: str) -> ParenthesesText:
    """Return the source with Jinja's tags.

    Raises:
        NotConvertible: a name has no letter, or a text has a mark of Jinja.
    """
    renamed: dict[str, str] = {}

    def tag(found: re.Match[str]) -> str:
        written, mark, optional = found[1].partition("??")
        name = _name(written)
        if name is None:
            raise NotConvertible(source, found.start(), f"(({written})) is no name of a variable")
        if name != written:
            renamed[written] = name
        if not mark:
            return f"{{{{ {name} }}}}"
        text = converted.literal(optional, source, found.start())
        return f"{{% if {name}|lower in {_TRUE} %}}{text}{{% endif %}}"

    return ParenthesesText(converted.rewrite(source, _PLACEHOLDER, tag), renamed)


def _name(written: str) -> str | None:
    words = re.findall(r"[^\W_]+", written.replace("'", "").lower())
    return converted.path("_".join(words))


def to_html(source: str) -> str:
    """Return the HTML of a converted e-mail: headings, lists, quotes, lines and links."""
    return "\n".join(_blocks(source.replace("\r\n", "\n").split("\n")))


def _blocks(lines: list[str]) -> Iterator[str]:
    rest = [line.strip() for line in lines]
    while rest:
        line = rest[0]
        if not line:
            rest.pop(0)
        elif block := _line_block(line):
            rest.pop(0)
            yield block
        elif item := _ITEM.fullmatch(line):
            tag = "ol" if item[1] else "ul"
            items = _take(rest, _IS_ITEM_OF[tag])
            inner = "".join(f"<li>{_inline(_ITEM.sub(_text, each))}</li>" for each in items)
            yield f"<{tag}>{inner}</{tag}>"
        else:
            paragraph = _take(rest, lambda each: bool(each) and not _begins_block(each))
            yield f"<p>{'<br>'.join(map(_inline, paragraph))}</p>"


def _take(lines: list[str], belongs: Callable[[str], bool]) -> list[str]:
    """Remove and return the first lines that belong together."""
    taken = list(itertools.takewhile(belongs, lines))
    del lines[: len(taken)]
    return taken


def _list_of(line: str) -> str:
    item = _ITEM.fullmatch(line)
    return "" if item is None else "ol" if item[1] else "ul"


_IS_ITEM_OF: Final[Mapping[str, Callable[[str], bool]]] = {
    "ol": lambda line: _list_of(line) == "ol",
    "ul": lambda line: _list_of(line) == "ul",
}


def _text(item: re.Match[str]) -> str:
    return item[2]


def _line_block(line: str) -> str:
    """Return the block that a line is by itself; empty for a list item or a paragraph."""
    if heading := _HEADING.fullmatch(line):
        level = "h2" if len(heading[1]) == 1 else "h3"
        return f"<{level}>{_inline(heading[2].strip())}</{level}>"
    if _RULE.fullmatch(line):
        return "<hr>"
    if line.startswith("^"):
        return f"<blockquote><p>{_inline(line[1:].strip())}</p></blockquote>"
    return ""


def _begins_block(line: str) -> bool:
    return bool(_line_block(line) or _list_of(line))


def _inline(text: str) -> str:
    """Escape a text for HTML, and make links; tags of Jinja stay."""
    pieces: list[str] = []
    end = 0
    for found in _LINK.finditer(text):
        url = found[2] or found[3].rstrip(".,;:!?")
        after = "" if found[2] else found[3][len(url) :]
        pieces.append(_escape(text[end : found.start()]))
        label = _escape(found[1] or url)
        pieces.append(f'<a href="{_escape(url)}">{label}</a>{_escape(after)}')
        end = found.end()
    pieces.append(_escape(text[end:]))
    return "".join(pieces)


def _escape(text: str) -> str:
    """Escape the text outside of Jinja's tags, which have no character of HTML but quotes."""
    parts = re.split(r"(\{\{[^{}]*\}\}|\{%[^{}]*%\})", text)
    return "".join(
        part if place % 2 else html.escape(part, quote=True) for place, part in enumerate(parts)
    )
