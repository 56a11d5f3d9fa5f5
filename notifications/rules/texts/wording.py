"""Stored texts for channels: compiled once, rendered for each message.

    Source  -> compile_text()  -> Wording.render(variables, reader) -> Rendered
               e-mail: frame, inlined CSS, plain text       SMS: short links, transliteration
                                                            push: the body shortened to fit

Callers keep the result of `compile_text`; apart from rendering, a message then costs a few
microseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from notifications.rules.language import locales, needs, templating
from notifications.rules.language.templating import CompiledText, Reader, Rendered
from notifications.rules.language.variables import UNSUBSCRIBE_URL
from notifications.rules.texts import (
    mail_html,
    mail_text,
    push_size,
    short_links,
    sms_transliteration,
)
from providers.contract import Channel

COLUMNS: Final = (
    *("locale", "title", "body", "html"),
    *("transliterate", "max_segments", "shorten_links"),
)
"""Fields of a `TextSource` besides the channel, which are columns of the table as well."""
Shorten = Callable[[str], str]
"""Returns a short link for a long one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """A template's text for one channel and locale, as written by the author."""

    channel: Channel
    locale: str
    title: str = ""
    body: str = ""
    html: str = ""
    transliterate: bool = False
    """SMS: into GSM-7, if all of it can be written there."""
    max_segments: int | None = None
    """SMS: publishing fails if the example renders to more. Sent text is never truncated: the cut
    part could be the link or the code."""
    shorten_links: bool = False

    @property
    def label(self) -> str:
        """Channel and locale, for people."""
        return f"{self.channel.label} {self.locale}"

    @property
    def parts(self) -> tuple[str, str, str]:
        """Return the sources that may mention variables."""
        return self.title, self.body, self.html


@dataclass(frozen=True, slots=True)
class Wording:
    """A compiled text, shared by all threads."""

    source: TextSource
    text: CompiledText
    has_link: bool = False
    """The text holds the unsubscribe URL."""

    def render(
        self,
        variables: Mapping[str, Any],
        reader: Reader,
        *,
        shorten: Shorten | None = None,
        unsubscribe_url: str = "",
    ) -> Rendered:
        """Render the message for a reader.

        Raises:
            RenderError: the variables do not match the template, or the result is too large.
        """
        source = self.source
        if self.has_link:
            variables = {**variables, UNSUBSCRIBE_URL: unsubscribe_url}
        rendered = self.text.render(variables, _reader_for(source.locale, reader))
        if source.channel is Channel.SMS:
            return self._reduce_segments(rendered, shorten)
        return fit(source.channel, rendered)

    def _reduce_segments(self, rendered: Rendered, shorten: Shorten | None) -> Rendered:
        body = rendered.body
        if shorten is not None and self.source.shorten_links:
            body = short_links.replace_links(body, shorten)
        if self.source.transliterate:
            body = sms_transliteration.transliterate(body)
        return rendered if body is rendered.body else rendered._replace(body=body)


def compile_text(source: TextSource) -> Wording:
    """Compile a text; callers keep it as long as the source is the same.

    Raises:
        BrokenTemplate: one of its parts would not be safe to render.
    """
    body, html = source.body, source.html
    if source.channel is Channel.EMAIL and html:
        html = mail_html.prepare(source.html, locale=source.locale)
        body = body or mail_text.text_of(source.html)
    text = templating.compile_text(source.title, body, html)
    return Wording(source, text, has_link=has_link(source))


def mentions(source: TextSource) -> frozenset[str]:
    """Return the producer's variables mentioned in a text; empty for an invalid text."""
    return _names(source) - {UNSUBSCRIBE_URL}


def has_link(source: TextSource) -> bool:
    """Return True if the text contains the unsubscribe URL."""
    return UNSUBSCRIBE_URL in _names(source)


@functools.lru_cache(maxsize=4096)
def _names(source: TextSource) -> frozenset[str]:
    if any(map(templating.check, source.parts)):
        return frozenset()
    return frozenset[str]().union(*map(templating.variables_of, source.parts))


def required_variables(source: TextSource) -> frozenset[str]:
    """Return the producer's variables required by every render of a text.

    Raises:
        BrokenTemplate: a part would not be safe to render.
    """
    names = frozenset[str]().union(*map(needs.required_variables, source.parts))
    return names - {UNSUBSCRIBE_URL}


def fit(channel: Channel, rendered: Rendered) -> Rendered:
    """Shorten a text to the limits of the channel."""
    if channel is not Channel.PUSH:
        return rendered
    body = push_size.shorten(rendered.title, rendered.body)
    return rendered if body is rendered.body else rendered._replace(body=body)


@functools.lru_cache(maxsize=4096)
def _reader_for(locale: str, reader: Reader) -> Reader:
    return Reader(locale=locales.of_reader(locale, reader.locale), timezone=reader.timezone)
