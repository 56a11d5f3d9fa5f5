"""Warnings for authors about a rendered mail, by rules of spam filters and mail programs.

A warning refuses nothing. Contrast is compared for colours in style attributes and in `bgcolor`, by
their common forms (`colors.read`); the colours of style sheets that are not inlined are left out.

Python's HTML parser is not used: the time of the parser grows with the square of bare `<`, and
`<![if{{ x }}]>` raises an AssertionError.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from notifications.core.rules import colors
from notifications.core.rules.brand import Brand
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.texts import mail_text
from providers import html_references

CLIPPED_HTML_BYTES: Final = 102_400
"""Gmail clips a larger message."""
LONGEST_SUBJECT: Final = 78
"""Characters of a header line at most, by RFC 5322, 2.1.1."""
LEAST_TEXT_BYTES: Final = 400
"""Bytes of visible text beside images, below which SpamAssassin's strictest rule about images
applies (`HTML_IMAGE_ONLY_04` of rules/20_html_tests.cf)."""
SHORTENERS: Final = frozenset({
    *("bit.ly", "bitly.com", "buff.ly", "cutt.ly", "goo.gl", "is.gd", "j.mp", "lnkd.in"),
    *("ow.ly", "rb.gy", "rebrand.ly", "s.id", "shorturl.at", "t.co", "t.ly", "tiny.cc"),
    *("tinyurl.com", "tr.im", "v.gd"),
})
"""Hosts of public shorteners: a link hides its target behind a host that spam uses as well."""
_FEWEST_CAPITALS: Final = 8
"""Letters of a subject in capitals; a shorter one can be a name or a code."""
_MOST_SHOWN: Final = 3
"""Pairs of colours in a warning."""
_URL: Final = re.compile(r"https?://[^\s<>\"')]+")
_DECLARATION: Final = re.compile("<[!?][^<>]*+>")
"""`<!doctype html>`, and the conditions of Outlook outside a comment."""
_TAG: Final = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z][^\s<>/]*+)(?P<rest>[^<>]*+)>")
"""`mail_markup` refuses `<` and `>` in a tag, and so each part of a page is read once."""
_ATTRIBUTE: Final = re.compile(
    r"""([^\s"'=/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"']++)))?"""
)
_NO_TEXT: Final = frozenset({"head", "script", "style", "template", "title"})
_VOID: Final = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "wbr"})
_CLOSED_BY_THEIR_LIKE: Final = frozenset({"dd", "dt", "li", "p", "td", "th", "tr"})
_PIXEL: Final = frozenset({"0", "1"})
_HIDING: Final = frozenset({
    *(("display", "none"), ("visibility", "hidden"), ("mso-hide", "all"), ("opacity", "0")),
    *(("font-size", "0"), ("font-size", "0px")),
})
"""Declarations that hide a text, such as the line beside the subject."""


class MailWarning(StrEnum):
    """A warning; the value is the sentence for authors, with names for its facts."""

    NO_SUBJECT = "A mail without a subject looks like spam."
    LOUD_SUBJECT = "The subject is in capitals: spam filters count such subjects."
    LONG_SUBJECT = (
        "The subject has {count} characters: a header line has {most} at most, a phone shows less."
    )
    NO_UNSUBSCRIBE_LINK = (
        "The text shows no unsubscribe link, and types of priority P3 use it: {types}. Add"
        " {{{{ unsubscribe_url }}}}: the service adds the header List-Unsubscribe, which some mail"
        " programs do not show."
    )
    NO_LINK_AND_NO_USE = (
        "The text shows no unsubscribe link. Add {{{{ unsubscribe_url }}}} if a type of priority P3"
        " will use it."
    )
    CLIPPED = "Gmail clips a message above {most} bytes; the HTML has {count} bytes."
    IMAGE_ONLY = (
        "Images: {count}, bytes of text: {size}. Spam filters count less than {least} bytes of text"
        " beside images."
    )
    NO_DESCRIPTION = (
        "Images without a description (alt): {count}. A reader without images sees nothing there."
    )
    LOW_CONTRAST = "Text is hard to read: {pairs}. WCAG asks for {least} to 1."
    SHORT_LINK = (
        "Links of {hosts} hide their target: spam filters distrust public shorteners. Link to the"
        " target."
    )


def warnings(rendered: Rendered, *, brand: Brand) -> Iterator[str]:
    """Yield a sentence for each warning about a rendered mail."""
    yield from _about_subject(rendered.title)
    page = _Page(rendered.html)
    size = len(rendered.html.encode())
    if size > CLIPPED_HTML_BYTES:
        yield MailWarning.CLIPPED.format(most=CLIPPED_HTML_BYTES, count=size)
    images = [image for image in page.images if image.source != brand.logo_url]
    if images and page.text_bytes < LEAST_TEXT_BYTES:
        yield MailWarning.IMAGE_ONLY.format(
            count=len(images), size=page.text_bytes, least=LEAST_TEXT_BYTES
        )
    if silent := sum(not image.is_described for image in images):
        yield MailWarning.NO_DESCRIPTION.format(count=silent)
    if pairs := list(_hard_to_read(page.looks)):
        shown = ", ".join(pairs[:_MOST_SHOWN])
        yield MailWarning.LOW_CONTRAST.format(pairs=shown, least=colors.LEAST_RATIO)
    if hosts := _short_hosts([*page.links, *_URL.findall(rendered.body)]):
        yield MailWarning.SHORT_LINK.format(hosts=", ".join(hosts))


def without_unsubscribe_link(types: Collection[str] | None) -> Iterator[str]:
    """Yield the warning about a mail without an unsubscribe link.

    Args:
        types: the types of priority P3 that use the mail; None: no type has used it.
    """
    if types is None:
        yield MailWarning.NO_LINK_AND_NO_USE.format()
    elif types:
        yield MailWarning.NO_UNSUBSCRIBE_LINK.format(types=", ".join(sorted(types)))


def _about_subject(subject: str) -> Iterator[str]:
    if not subject:
        yield MailWarning.NO_SUBJECT.value
    capitals = sum(letter.isupper() for letter in subject)
    if capitals >= _FEWEST_CAPITALS and not any(letter.islower() for letter in subject):
        yield MailWarning.LOUD_SUBJECT.value
    if len(subject) > LONGEST_SUBJECT:
        yield MailWarning.LONG_SUBJECT.format(count=len(subject), most=LONGEST_SUBJECT)


def _hard_to_read(looks: Iterable[_Look]) -> Iterator[str]:
    for color, background, _ in sorted(looks):
        ratio = colors.ratio(color, background)
        if ratio < colors.LEAST_RATIO:
            # Rounded down, so that a ratio just below the limit does not read as the limit.
            yield f"{color} on {background} has a contrast of {int(ratio * 100) / 100:.2f} to 1"


def _short_hosts(links: Iterable[str]) -> list[str]:
    found = {_host(link).removeprefix("www.") for link in links}
    return sorted(found & SHORTENERS)


def _host(link: str) -> str:
    try:
        return (urlsplit(link).hostname or "").lower()
    except ValueError:  # `https://[`
        return ""


class _Look(NamedTuple):
    """Colours of text, `#rrggbb`; empty: in a form that is not read."""

    color: str = colors.BLACK
    background: str = colors.WHITE
    is_hidden: bool = False


class _Image(NamedTuple):
    source: str
    is_described: bool


class _Page:
    """The images, links, visible text and colours of a page."""

    def __init__(self, html: str) -> None:
        self.images: list[_Image] = []
        self.links: list[str] = []
        self.text_bytes = 0
        self.looks: set[_Look] = set()
        self._open: list[tuple[str, _Look]] = []
        self._names: Counter[str] = Counter()
        page = _DECLARATION.sub("", mail_text.without_comments(html))
        at = 0
        for tag in _TAG.finditer(page):
            self._add_text(page[at : tag.start()])
            self._add_tag(tag["name"].lower(), tag["rest"], is_end=bool(tag["end"]))
            at = tag.end()
        self._add_text(page[at:])

    def _add_tag(self, name: str, rest: str, *, is_end: bool) -> None:
        if is_end:
            while self._names[name] and self._leave() != name:
                pass
            return
        if name in _CLOSED_BY_THEIR_LIKE and self._open and self._open[-1][0] == name:
            self._leave()
        given = {
            found[1].lower(): html_references.unescape(found[2] or found[3] or found[4] or "")
            for found in _ATTRIBUTE.finditer(rest)
        }
        if name == "img":
            self._add_image(given)
        if name == "a" and given.get("href"):
            self.links.append(given["href"])
        if name not in _VOID:
            self._open.append((name, _look(self._now(), name, given)))
            self._names[name] += 1

    def _add_text(self, source: str) -> None:
        now = self._now()
        words = "" if now.is_hidden else " ".join(html_references.unescape(source).split())
        if not words:
            return
        self.text_bytes += len(words.encode(errors="surrogatepass"))
        if now.color and now.background:
            self.looks.add(now)

    def _add_image(self, given: dict[str, str]) -> None:
        if given.get("width") in _PIXEL and given.get("height") in _PIXEL:
            return
        is_in_link = bool(self._names["a"])
        is_described = "alt" in given and (bool(given["alt"].strip()) or not is_in_link)
        self.images.append(_Image(given.get("src", ""), is_described))

    def _now(self) -> _Look:
        return self._open[-1][1] if self._open else _Look()

    def _leave(self) -> str:
        tag, _ = self._open.pop()
        self._names[tag] -= 1
        return tag


def _look(above: _Look, tag: str, given: dict[str, str]) -> _Look:
    """Return the colours of an element, which are those above unless the element has its own."""
    if not given and tag not in _NO_TEXT:
        return above
    style = given.get("style", "").lower()
    pairs = (declaration.partition(":") for declaration in style.split(";"))
    own = {name.strip(): value.strip() for name, _, value in pairs}
    color = own.get("color", given.get("color", "") if tag == "font" else "")
    background = own.get("background-color", own.get("background", given.get("bgcolor", "")))
    return _Look(
        color=_color(color, above.color),
        background=_color(background, above.background),
        is_hidden=above.is_hidden or tag in _NO_TEXT or not _HIDING.isdisjoint(own.items()),
    )


def _color(declared: str, above: str) -> str:
    """Return the colour of a declaration; empty for a form that is not read."""
    value = declared.removesuffix("!important").strip()
    if value in {"", "inherit", "none", "transparent"}:
        return above
    return colors.read(value)
