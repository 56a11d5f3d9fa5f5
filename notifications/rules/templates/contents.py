"""What a version of a template says, apart from who wrote it and when.

Promise: two contents are equal exactly when nobody could tell their messages apart. So everything
is spelled in one way as it is made, whichever door it came through: a browser's CRLF, a file's last
newline and a locale written `pt_BR` make no difference between two versions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.rules.language import locales
from notifications.rules.texts.wording import Source
from providers.contract import Channel

UNTITLED: Final = frozenset({Channel.SMS})
"""Channels that have no place for a title."""


@dataclass(frozen=True, slots=True)
class Content:
    """All that is fixed when a version is published."""

    texts: tuple[Source, ...]
    """By channel and locale, each pair once."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The version's other columns, by name, as JSON values: `sensitive_variables` ..."""


def words(
    channel: Channel, locale: str, *, title: str = "", body: str = "", html: str = ""
) -> Source:
    """One text without a policy, spelled."""
    return spelled(Source(channel=channel, locale=locale, title=title, body=body, html=html))


def spelled(source: Source) -> Source:
    """The same text in the one way that it is kept.

    A title is one line, as `templating` renders it, and an SMS has none. What says how an SMS is
    sent means nothing elsewhere; a limit of no segments is no limit (see `publishing`).
    """
    one_way = dataclasses.replace(
        source,
        locale=locales.normalised(source.locale),
        title="" if source.channel in UNTITLED else " ".join(source.title.split()),
        body=_lines(source.body),
        html=_lines(source.html),
        max_segments=source.max_segments or None,
    )
    if source.channel is Channel.SMS:
        return one_way
    return dataclasses.replace(one_way, transliterate=False, max_segments=None, shorten_links=False)


def content(texts: Iterable[Source], settings: Mapping[str, Any] | None = None) -> Content:
    """A version's content, its texts in order."""
    in_order = sorted(texts, key=lambda text: (text.channel, text.locale))
    return Content(tuple(in_order), dict(settings or {}))


def _lines(source: str) -> str:
    """With Unix line ends and without empty lines at the end."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
