"""An author's HTML as mail programs need it: a whole document, its styles on the elements.

    fragment  -> framed (`mail_frame.html`: brand, width, dark mode)  -+
    document  -> kept                                                 -+-> CSS inlined, lang, dir

The template's source is prepared once for each version, instead of 2 ms for each mail. Parts that
Jinja will replace become marks for the HTML parser: a comment for a statement between elements, a
private-use word for a variable and in a tag, a comment or a title. If a mark does not come back in
its place, or `mail_styles` objects to the style sheet, the style sheet stays where it is.
`mail_sheets` says which rules stay in a style sheet that is inlined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import css_inline

from notifications.core.rules import brand
from notifications.core.rules.language import locales, templating
from notifications.core.rules.texts import mail_markup, mail_sheets, mail_styles

_FOLDER: Final = Path(__file__).parent
_FRAME: Final = (_FOLDER / "mail_frame.html").read_text()
_HEADER: Final = (_FOLDER / "mail_brand_header.html").read_text()
_FOOTER: Final = (_FOLDER / "mail_brand_footer.html").read_text()
_BRANDED: Final = {
    "font": ' style="font-family: {{ brand.font }}"',
    "link_color": "{{ brand.color }}",
    "header": _HEADER,
    "footer": _FOOTER,
}
"""The parts of the frame that show the brand (`rules.brand`)."""
_UNBRANDED: Final = {"font": "", "link_color": brand.COLOR, "header": "", "footer": ""}
_DOCUMENT: Final = re.compile(r"<(?:!doctype|html|body)\b", re.IGNORECASE)
_OPENING: Final = re.compile(r"<html(?P<attributes>[^>]*)>")
_BEGIN: Final = "\ue000"
"""First character of a mark."""
_MARK: Final = re.compile("<!--\ue000(\\d+)\ue001-->|\ue000(\\d+)\ue001")
_NAMED_BY_MARK: Final = re.compile("</?[a-zA-Z][^ \t\n\r\f<>/]*\ue000")
"""A tag whose name has a mark: no end tag has the same name, so the parser never closes it."""
_WITHOUT_COMMENTS: Final = (("<", ">"), ("<!--", "-->"), ("<title", "</title"))
"""Begin and end of the parts in which no comment can stand: tags, comments and titles."""
_ATTRIBUTE: Final = '\ue001=""'
"""A mark that the parser took for an attribute."""
_ENDS: Final = frozenset({"variable_end", "block_end", "comment_end"})
_NOT_LINE_END: Final = re.compile("[^\n]")
_STANDS_FOR: Final = {
    "variable": "_",
    "block": mail_markup.STATEMENT,
    "comment": mail_markup.STATEMENT,
}
_BEGINS: Final = frozenset({"variable_begin", "block_begin", "comment_begin"})


def prepare(source: str, *, locale: str, shows_brand: bool = True) -> str:
    """Return the HTML source of a mail, framed, inlined and marked with its language.

    Args:
        source: the HTML of the author.
        locale: language of the text.
        shows_brand: the frame shows the variable `brand`.

    Raises:
        BrokenTemplate: a tag is not closed, or the source is too large.
    """
    if not source:
        return ""
    mail_markup.measure(_bare(source))
    whole = _with_frame(source, locale=locale, shows_brand=shows_brand)
    if not style_fault(source, locale=locale):
        whole = _inline_styles(whole)
    return _with_language(whole, locale=locale)


def style_fault(source: str, *, locale: str) -> str:
    """Return the reason why the style sheets of a source are not inlined; empty if they are.

    Raises:
        BrokenTemplate: a tag is not closed, or the source is too large.
    """
    return mail_styles.fault(mail_markup.measure(_bare(_with_frame(source, locale=locale))))


def is_document(source: str) -> bool:
    """Return True for a whole document, which gets no frame."""
    return _DOCUMENT.search(source) is not None


def with_footer(source: str) -> str:
    """Return a fragment with the footer of the frame, for the text part."""
    return source + _FOOTER


def statements(source: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) pieces of a source; the kind is `data`, `variable`, `block` or `comment`.

    Raises:
        BrokenTemplate: a tag is not closed.
    """
    inside, piece = "", ""
    for kind, text in templating.tokens(source):
        if kind in _BEGINS:
            inside, piece = kind.removesuffix("_begin"), text
        elif not inside:
            yield "data", text
        else:
            piece += text
            if kind in _ENDS:
                yield inside, piece
                inside = ""


def _bare(source: str) -> str:
    """Return the HTML with a word in place of each variable, and space of each other statement.

    The length stays: a mark is hardly longer than the shortest statement.
    """
    return "".join(
        text if kind == "data" else _NOT_LINE_END.sub(_STANDS_FOR[kind], text)
        for kind, text in statements(source)
    )


def _with_frame(source: str, *, locale: str, shows_brand: bool = True) -> str:
    if is_document(source):
        return source
    words = {"lang": locales.normalize(locale), "dir": locales.direction(locale)}
    parts = _BRANDED if shows_brand else _UNBRANDED
    return _FRAME % {**words, **parts, "content": source}


def _with_language(source: str, *, locale: str) -> str:
    """Add language and direction, unless the author did."""
    opening = _OPENING.search(source)
    if opening is None or "lang=" in opening["attributes"] or "dir=" in opening["attributes"]:
        return source
    words = f' lang="{locales.normalize(locale)}" dir="{locales.direction(locale)}"'
    return source[: opening.end() - 1] + words + source[opening.end() - 1 :]


def _inline_styles(source: str) -> str:
    marked, kept = _with_marks(source)
    if _NAMED_BY_MARK.search(marked):
        return source
    try:
        done = mail_sheets.inline(marked, mark=_BEGIN)
    except css_inline.InlineError:
        return source  # a style attribute is no list of declarations, as `style="{{ colour }}"`
    order = [found[1] or found[2] for found in _MARK.finditer(done)]
    if order != list(map(str, range(len(kept)))) or _ATTRIBUTE in done:
        return source
    return _MARK.sub(lambda found: kept[int(found[1] or found[2])], done)


def _with_marks(source: str) -> tuple[str, list[str]]:
    """Return HTML with marks for variables and statements, and the replaced texts by number."""
    kept: list[str] = []
    page: list[str] = []
    within: set[str] = set()
    for kind, text in statements(source):
        if kind != "data":
            mark = f"\ue000{len(kept)}\ue001"
            kept.append(text)
            page.append(mark if kind == "variable" or within else f"<!--{mark}-->")
            continue
        page.append(text)
        for begin, end in _WITHOUT_COMMENTS:
            opened, closed = text.lower().rfind(begin), text.lower().rfind(end)
            if opened > closed:
                within.add(begin)
            elif opened < closed:
                within.discard(begin)
    return "".join(page), kept
