"""The HTML of a mail in blocks, for Outlook, Gmail and Apple Mail.

Tables and styles on the elements, because Outlook for Windows lays a mail out with Word, and parts
of Gmail leave style sheets out. The only style sheet holds `@media` rules: columns below each
other on a phone, and the colours of dark mode. A mail program that leaves the sheet out shows the
whole mail. `test_mail_block_markup_clients` compares each construct with the data of caniemail.com.

Markdown is parsed by markdown-it, without its rules for HTML and entities; each token becomes a
fixed tag here, so an author's text cannot become a tag.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from notifications.core.rules.texts.mail_block_tree import (
    IMAGE_END,
    LINK_END,
    Block,
    Button,
    Columns,
    If,
    Markdown,
    Preheader,
    Table,
    as_address,
    refuse,
)

WIDTH: Final = 552
"""Pixels of a block: the sheet of 600 without its padding."""
_GAP: Final = 16
"""Pixels between two columns."""
_MAX_LEVEL: Final = 12
"""Nesting of Markdown's tokens: five lists in each other. markdown-it leaves deeper text out."""
_FRAME: Final = Path(__file__).with_name("mail_block_frame.html").read_text()
_PLACE: Final = re.compile("PREHEADER|HEADER|START|CONTENT")
_LINK: Final = re.compile("(?:https?://|mailto:|tel:|\ue000)[^\\s\0-\x20\x7f]+", re.IGNORECASE)
_IMAGE: Final = re.compile(
    "(?:https?://|\ue000)[^\\s\0-\x20\x7f]+|cid:[A-Za-z0-9_\\-]+", re.IGNORECASE
)
"""`cid:` and the inline id of an attachment, or a URL."""
_WIDTH: Final = re.compile("[0-9]{1,3}")
_STATEMENT: Final = re.compile("\\{(?=[{%#\ue000]|\\Z)")
"""A brace that could begin a statement of the template language."""
_TABLE: Final = 'width="100%" border="0" cellpadding="0" cellspacing="0"'
_GRID: Final = f'<table role="presentation" {_TABLE}'
_TAGS: Final = {
    "h1": "margin: 0 0 16px; font-size: 24px; line-height: 1.3",
    "h2": "margin: 0 0 12px; font-size: 20px; line-height: 1.3",
    "h3": "margin: 0 0 8px; font-size: 16px; line-height: 1.5",
    "p": "margin: 0 0 16px",
    "ul": "margin: 0 0 16px",
    "ol": "margin: 0 0 16px",
    "li": "margin: 0 0 4px",
    "th": "padding: 8px 4px; border-bottom: 2px solid #71717a",
    "td": "padding: 8px 4px; border-bottom: 1px solid #d4d4d8",
}
"""Tag -> style of the element."""
_HEADINGS: Final = {"h4": "h3", "h5": "h3", "h6": "h3"}
_DIVIDER: Final = (
    f'{_GRID} style="margin: 0 0 16px"><tr><td style="border-top: 1px solid #d4d4d8; font-size:'
    ' 1px; line-height: 1px">&nbsp;</td></tr></table>\n'
)
_HEADER: Final = (
    '{% if brand.name %}<p style="margin: 0 0 24px">{% if brand.logo_url %}<img src='
    '"{{ brand.logo_url }}" alt="{{ brand.logo_alt }}" height="40" style="border: 0">'
    "{% else %}<strong>{{ brand.name }}</strong>{% endif %}</p>\n{% endif %}"
)
_BUTTON: Final = (
    '<table role="presentation" border="0" cellpadding="0" cellspacing="0" style="margin: 0 0 16px"'
    '><tr><td style="background-color: {{ brand.color }}; border-radius: 6px; mso-padding-alt: 12px'
    ' 24px"><a href="%(url)s" style="display: inline-block; padding: 12px 24px; color:'
    ' {{ brand.color_text }}; font-weight: bold; text-decoration: none">%(label)s</a></td></tr>'
    "</table>\n"
)
"""Outlook for Windows knows the padding of the cell alone."""


class _Parser(MarkdownIt):
    """Markdown without HTML; addresses stay as written, and are checked here."""

    def __init__(self) -> None:
        super().__init__("zero", {"maxNesting": 2 * _MAX_LEVEL})
        self.enable(["heading", "hr", "list", "table"])
        self.enable(["emphasis", "escape", "image", "link", "newline"])

    def validateLink(self, url: str) -> bool:  # noqa: N802, ARG002 - markdown-it's name
        """Accept each address: `_address` refuses with the line."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - markdown-it's name
        """Keep the address: a variable is part of it."""
        return url


@functools.cache
def _parser() -> _Parser:
    return _Parser()


def document(blocks: Sequence[Block], *, is_right_to_left: bool) -> str:
    """Return the page of a mail, with the marks of the source.

    Raises:
        BrokenTemplate: a block is not what its directive takes; with the line.
    """
    start = "right" if is_right_to_left else "left"
    preheader = "".join(
        f'<div style="display: none">{_text(block.text)}</div>\n'
        for block in blocks
        if isinstance(block, Preheader)
    )
    content = "".join(_Blocks(start=start, width=WIDTH).of(blocks))
    return _page(content, preheader=preheader, header=_HEADER, start=start)


def source_of_text(blocks: Sequence[Block]) -> str:
    """Return the page of which the text part is made: without preheader and header."""
    content = "".join(_Blocks(start="left", width=WIDTH).of(blocks))
    return _page(content, preheader="", header="", start="left")


def _page(content: str, *, preheader: str, header: str, start: str) -> str:
    parts = {"PREHEADER": preheader, "HEADER": header, "START": start, "CONTENT": content}
    return _PLACE.sub(lambda found: parts[found[0]], _FRAME)


class _Blocks:
    """Writes blocks of a width in pixels."""

    def __init__(self, *, start: str, width: int) -> None:
        self._start = start
        self._width = width

    def of(self, blocks: Sequence[Block]) -> Iterator[str]:
        for block in blocks:
            yield from self._one(block)

    def _one(self, block: Block) -> Iterator[str]:
        match block:
            case Markdown(line, text):
                yield from self._markdown(_tokens_of(text, line), line)
            case Button(line, text):
                yield _button(line, text)
            case Columns():
                yield from self._columns(block)
            case Table():
                yield from self._table(block)
            case If(condition=condition, then=then, otherwise=otherwise):
                yield f"{{% if {condition} %}}{''.join(self.of(then))}"
                yield f"{{% else %}}{''.join(self.of(otherwise))}{{% endif %}}\n"
            case Preheader():
                pass

    def _columns(self, block: Columns) -> Iterator[str]:
        count = len(block.columns)
        width = (self._width - _GAP * (count - 1)) // count
        inner = _Blocks(start=self._start, width=width)
        gap = f'<td class="gap" width="{_GAP}">&nbsp;</td>'
        cells = [
            f'<td class="column" width="{width}" valign="top">\n{"".join(inner.of(column))}</td>'
            for column in block.columns
        ]
        yield f"{_GRID}><tr>{gap.join(cells)}</tr></table>\n"

    def _table(self, block: Table) -> Iterator[str]:
        first = block.content[0]
        tokens = _tokens_of(first.text, first.line) if isinstance(first, Markdown) else []
        kinds = [token.type for token in tokens]
        if kinds[:1] != ["table_open"] or kinds.index("table_close") != len(kinds) - 1:
            refuse(block.line, "table: the block holds one Markdown table and nothing else")
        if "tbody_open" not in kinds:
            refuse(block.line, "table: the row to repeat is missing below | --- |")
        yield from self._markdown(tokens, block.line, loop=block.loop)

    def _markdown(self, tokens: Sequence[Token], line: int, *, loop: str = "") -> Iterator[str]:
        for token in tokens:
            match token.type:
                case "inline":
                    where = line + (token.map[0] if token.map else 0)
                    is_picture = token.level == 1 and _is_picture(token)
                    width = self._width if is_picture else 0
                    yield _Inline(where, width=width).of(token.children or [])
                case "hr":
                    yield _DIVIDER
                case "tbody_open" if loop:
                    yield f"<tbody>{{% for {loop} %}}"
                case "tbody_close" if loop:
                    yield "{% endfor %}</tbody>\n"
                case _:
                    yield "" if token.hidden else self._tag(token)

    def _tag(self, token: Token) -> str:
        tag = _HEADINGS.get(token.tag, token.tag)
        if token.nesting < 0:
            return f"</{tag}>\n"
        if tag == "table":
            return f'<table {_TABLE} style="margin: 0 0 16px">\n'
        if tag not in _TAGS:
            return f"<{tag}>"
        style, more = _TAGS[tag], ""
        if tag in {"td", "th"}:
            # Markdown's `--:`
            asked = str(token.attrGet("style") or "").removeprefix("text-align:")
            more = f' align="{asked or self._start}"'
        if tag == "ol" and (first := token.attrGet("start")) is not None:
            more = f' start="{int(first)}"'
        return f'<{tag}{more} style="{style}">'


class _Inline:
    """Writes the text of a line or a cell."""

    def __init__(self, line: int, *, width: int) -> None:
        self._line = line
        self._width = width
        """Pixels of a picture that stands alone; 0: the picture's own width."""

    def of(self, tokens: Sequence[Token]) -> str:
        return "".join(map(self._one, tokens))

    def _one(self, token: Token) -> str:
        match token.type:
            case "softbreak" | "hardbreak":
                return "<br>\n"
            case "image":
                return self._image(token)
            case "link_open":
                url = _address(_LINK, token.attrGet("href"), self._line)
                return f'<a class="link" href="{url}" style="color: {{{{ brand.color }}}}">'
            case "strong_open" | "em_open":
                return f"<{token.tag}>"
            case "strong_close" | "em_close" | "link_close":
                return f"</{token.tag}>"
            case _:
                return _text(token.content)

    def _image(self, token: Token) -> str:
        url = _address(_IMAGE, token.attrGet("src"), self._line)
        title = str(token.attrGet("title") or "")
        if title and not (_WIDTH.fullmatch(title) and 0 < int(title) <= WIDTH):
            refuse(self._line, f'image: the width is a number up to {WIDTH}: ![Logo](URL "120")')
        width = int(title or self._width)
        width = min(width, self._width) if self._width else width
        size = f' width="{width}"' if width else ""
        style = "max-width: 100%; height: auto; border: 0"
        return f'<img src="{url}" alt="{_alternative(token)}"{size} style="{style}">'


def _tokens_of(text: str, line: int) -> list[Token]:
    tokens = _parser().parse(text)
    for token in tokens:
        if token.level >= _MAX_LEVEL:
            refuse(line + (token.map[0] if token.map else 0), "list: nested too deeply")
    return tokens


def _button(line: int, text: str) -> str:
    tokens = _parser().parseInline(text)[0].children or []
    kinds = [token.type for token in tokens]
    if kinds[:1] != ["link_open"] or kinds.index("link_close") != len(kinds) - 1:
        refuse(line, "button: write one link: ::: button [Pay now](https://example.com/pay)")
    label = _Inline(line, width=0).of(tokens[1:-1])
    if not label.strip():
        refuse(line, "button: the label is missing: ::: button [Pay now](https://example.com/pay)")
    url = _address(_LINK, tokens[0].attrGet("href"), line)
    return _BUTTON % {"url": url, "label": label}


def _is_picture(inline: Token) -> bool:
    """Return True for a line of one picture, with or without a link around it."""
    kinds = [token.type for token in inline.children or []]
    return kinds in (["image"], ["link_open", "image", "link_close"])


def _alternative(token: Token) -> str:
    """Return the text of a picture, without its markup."""
    return "".join(
        _text(child.content) if child.type == "text" else " " if "break" in child.type else ""
        for child in token.children or []
    )


def _address(allowed: re.Pattern[str], url: object, line: int) -> str:
    """Return an address as the value of an attribute; rendering checks a variable at the begin."""
    if not isinstance(url, str) or not allowed.fullmatch(url):
        kind = "image" if allowed is _IMAGE else "link"
        others = "cid: and an inline id" if allowed is _IMAGE else "mailto: or tel:"
        refuse(line, f"{kind}: the address begins with https://, http://, {others}, or a variable")
    return _text(as_address(url, IMAGE_END if allowed is _IMAGE else LINK_END))


def _text(text: str) -> str:
    """Return text for HTML, of which no part is a tag or a statement."""
    return _STATEMENT.sub("{{ '{' }}", escape(text))
