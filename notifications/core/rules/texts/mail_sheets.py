"""The style sheets of a mail: which rules go onto the elements, and which rules stay.

    rule that matches an element     written onto the element, and removed from the sheet
    rule that matches no element,    stays: mail programs add elements and attributes, such as
    at-rule, `:hover`                `.ExternalClass` and `[data-ogsc]`
    rule for a later element         written onto the elements, and stays
    sheet with `media`               stays whole: the medium is not known here

A later element is hidden from the inliner: in a conditional comment of Outlook, or with a class or
an id with a variable. A second run finds the rules for later elements: from a source without
these classes and ids, the inliner does not remove the rules.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import css_inline

_BEGIN: Final = re.compile(r"<!--|<style(?=[ \t\n\r\f/>])", re.IGNORECASE)
_SHEET_END: Final = re.compile("</style", re.IGNORECASE)
_COMMENT_END: Final = "-->"
_CONDITION: Final = re.compile(r"<!--\[if\b", re.IGNORECASE)
_MEDIUM: Final = re.compile(r"""[ \t\n\r\f"']media[ \t\n\r\f]*=""", re.IGNORECASE)
_STYLE: Final = "<style"
_NOT_INLINED: Final = ' data-css-inline="ignore"'
"""An attribute that the inliner knows."""
_NAMES: Final = re.compile(
    r"""\b(?P<attribute>class|id)[ \t\n\r\f]*=[ \t\n\r\f]*"""
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^ \t\n\r\f"'<>]+))""",
    re.IGNORECASE,
)


class _Piece(NamedTuple):
    """A comment, a style element, or the HTML between."""

    text: str
    is_comment: bool = False
    is_sheet: bool = False

    @property
    def begin(self) -> str:
        """Return the start tag of a style element."""
        return self.text[: self.text.find(">") + 1]

    @property
    def rules(self) -> str:
        """Return the content of a style element."""
        return self.text[len(self.begin) : self.text.rfind("<")]


def inline(source: str, *, mark: str) -> str:
    """Return the HTML with the rules of its style sheets on the elements.

    Args:
        source: HTML that `mail_styles` permits. The inliner runs at most twice.
        mark: a character of each word that stands for a variable or a statement.

    Raises:
        css_inline.InlineError: a style attribute or a style sheet cannot be read.
    """
    pieces = [_with_medium_kept(each) for each in _pieces(source)]
    done = list(_pieces(_inliner().inline(_join(pieces))))
    kept = done
    if is_later := _later(pieces, mark=mark):
        bare = [each if each.is_sheet else _without(each, is_later) for each in pieces]
        kept = list(_pieces(_inliner().inline(_join(bare))))
    rules = iter([each.rules for each in kept if each.is_sheet])
    page = [_with_rules(each, next(rules, each.rules)) if each.is_sheet else each for each in done]
    return _join(page)


def _join(pieces: list[_Piece]) -> str:
    return "".join(each.text for each in pieces)


def _pieces(html: str) -> Iterator[_Piece]:
    at = 0
    while found := _BEGIN.search(html, at):
        is_comment = found[0] == "<!--"
        end = _comment_end(html, found.end()) if is_comment else _sheet_end(html, found.end())
        if not end:
            break  # text of a title
        yield _Piece(html[at : found.start()])
        yield _Piece(html[found.start() : end], is_comment=is_comment, is_sheet=not is_comment)
        at = end
    yield _Piece(html[at:])


def _comment_end(html: str, at: int) -> int:
    """Return the position behind the comment; 0: the comment does not end."""
    end = html.find(_COMMENT_END, at)
    return end + len(_COMMENT_END) if end >= 0 else 0


def _sheet_end(html: str, at: int) -> int:
    """Return the position behind the style element; 0: the element does not end."""
    end = _SHEET_END.search(html, at)
    return html.find(">", end.end()) + 1 if end else 0


def _with_medium_kept(piece: _Piece) -> _Piece:
    if not piece.is_sheet or not _MEDIUM.search(piece.begin):
        return piece
    return piece._replace(text=piece.text[: len(_STYLE)] + _NOT_INLINED + piece.text[len(_STYLE) :])


def _with_rules(piece: _Piece, rules: str) -> _Piece:
    """Return a style element with rules; nothing for an element without a rule."""
    if not rules.strip():
        return _Piece("")
    begin = piece.begin.replace(_STYLE + _NOT_INLINED, _STYLE, 1)
    return piece._replace(text=f"{begin}{rules}</style>")


def _later(pieces: list[_Piece], *, mark: str) -> Callable[[str], bool] | None:
    """Return a test for the classes and ids of later elements; None: there is no later element."""
    found = [
        (each.is_comment, _value(names))
        for each in pieces
        if not each.is_sheet and (not each.is_comment or _CONDITION.match(each.text))
        for names in _NAMES.finditer(each.text)
    ]
    if any(mark in value for _, value in found):
        return lambda _name: True
    later = frozenset(name for is_comment, value in found if is_comment for name in value.split())
    return later.__contains__ if later else None


def _without(piece: _Piece, is_later: Callable[[str], bool]) -> _Piece:
    """Return HTML without the classes and ids of later elements."""

    def earlier(names: re.Match[str]) -> str:
        left = " ".join(name for name in _value(names).split() if not is_later(name))
        return f'{names["attribute"]}="{left}"' if '"' not in left else names["attribute"]

    return piece._replace(text=_NAMES.sub(earlier, piece.text))


def _value(names: re.Match[str]) -> str:
    return names["double"] or names["single"] or names["bare"] or ""


@functools.cache
def _inliner() -> css_inline.CSSInliner:
    # Nothing is fetched: a template must not make this process call anywhere.
    return css_inline.CSSInliner(
        load_remote_stylesheets=False, keep_style_tags=True, remove_inlined_selectors=True
    )
