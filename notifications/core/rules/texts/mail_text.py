"""The text part of a mail with only HTML.

Derived from the template's source, once for each version: `{{ name }}` and `{% for %}` are text to
an HTML tokenizer. Libraries build a tree, which has no place for a loop between two table rows.

Paragraphs, headings and list items begin lines; the cells of a row share a line; the target of a
link follows the text. Styles, scripts and pictures are left out (a picture leaves its `alt`).
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from notifications.core.rules.texts import mail_html
from providers import html_references

_SILENT: Final = frozenset({"head", "style", "script", "title", "template"})
_BREAKS: Final = {
    **dict.fromkeys(("tr", "li", "br", "dt", "dd", "caption"), 1),
    **dict.fromkeys(("p", "div", "table", "ul", "ol", "dl", "hr", "pre", "blockquote"), 2),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "section", "article"), 2),
    **dict.fromkeys(("header", "footer"), 2),
}
"""Line ends before and after an element."""
_MARK: Final = re.compile("[\ue000\ue002](\\d+)\ue001")
_STATEMENT: Final = re.compile("(\ue002\\d+\ue001)")
_OURS: Final = re.compile("[\ue000-\ue002]")
"""Characters of marks, which an author's text must not hold."""
_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_MARKED: Final = re.compile(r"<!\[[^>]*+>?")
"""Such as `<![if !mso]>`: a browser skips it; the tokenizer raises for an unknown one."""


def text_of(html: str) -> str:
    """Return the text source for an HTML source.

    Raises:
        BrokenTemplate: a tag is not closed.
    """
    kept: list[str] = []
    page: list[str] = []
    for kind, text in mail_html.statements(html):
        if kind == "data":
            page.append(_OURS.sub("", text))
            continue
        begin = "\ue000" if kind == "variable" else "\ue002"
        page.append(f"{begin}{len(kept)}\ue001")
        kept.append(text)
    reader = _Reader()
    # At once: with each piece it would begin again at a tag that is not closed yet.
    reader.feed(html_references.shorten(_tags("".join(page))))
    reader.close()
    return _MARK.sub(lambda found: kept[int(found[1])], reader.text())


def _tags(page: str) -> str:
    """Return the page without comments and marks, and with each `<` that begins no tag as text.

    The tokenizer would search for the end of each tag behind the last one, down to the end.
    """
    whole = _MARKED.sub("", without_comments(page))
    end = whole.rfind(">") + 1
    return whole[:end] + whole[end:].replace("<", "&lt;")


def without_comments(page: str) -> str:
    """Return the page without comments, in a single pass.

    The tokenizer would search for the end of each comment from the start, down to the end of the
    page.
    """
    kept = []
    at = 0
    while (begin := page.find("<!--", at)) >= 0:
        kept.append(page[at:begin])
        end = page.find("-->", begin + len("<!--"))
        at = end + len("-->") if end >= 0 else len(page)
    return "".join([*kept, page[at:]])


class _Reader(HTMLParser):
    """Collects the text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._written = ""
        self._breaks = 0
        self._owed, self._owed_at = 0, 0
        self._silent = 0
        self._targets: list[str] = []

    def text(self) -> str:
        return "\n".join(line.strip() for line in self._written.strip().split("\n"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._silent += tag in _SILENT
        self._breaks = max(self._breaks, _BREAKS.get(tag, 0))
        match tag:
            case "li":
                self._write("- ")
            case "a":
                self._targets.append(given.get("href") or "")
            case "img":
                self._write(given.get("alt") or "")
            case "td" | "th":
                self._write(" ")
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in _SILENT))
        if tag == "a" and self._targets:
            target = self._targets.pop()
            if target and not self._written.endswith(target):
                self._write(f" ({target})")
        self._breaks = max(self._breaks, _BREAKS.get(tag, 0))

    def handle_data(self, data: str) -> None:
        for piece in _STATEMENT.split(data):
            if _STATEMENT.fullmatch(piece):
                self._pass(piece)
            else:
                self._write(_SPACE.sub(" ", piece))

    def _pass(self, statement: str) -> None:
        # Each turn of a loop writes the line ends of its own elements; what an element before the
        # loop asks for beyond that is written once, before it.
        if self._silent:
            return
        if self._breaks:
            self._owed, self._owed_at = self._breaks, len(self._written)
            self._breaks = 0
        self._written += statement

    def _write(self, text: str) -> None:
        if self._silent:
            return
        if text.strip() and (self._breaks or self._owed):
            before, after = self._written[: self._owed_at], self._written[self._owed_at :]
            missing = "\n" * max(0, self._owed - self._breaks)
            self._written = before + missing + after + "\n" * self._breaks
            self._breaks, self._owed = 0, 0
            text = text.lstrip()
        if not self._breaks:
            self._written += text
