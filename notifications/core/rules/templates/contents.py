"""The content of a template's version, without author and time.

Two contents are equal exactly when their messages cannot differ: a browser's CRLF, a file's last
newline and a locale written `pt_BR` make no difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.core.rules import in_app
from notifications.core.rules.in_app import InAppPart
from notifications.core.rules.language import locales
from notifications.core.rules.texts import vendor_template, wording
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

MAX_TEXTS: Final = 600
"""Texts of a version: six channels in a hundred locales, or fewer with variants."""
UNTITLED: Final = frozenset({Channel.SMS})
"""Channels without a title."""
LINKED: Final = frozenset({Channel.IN_APP, Channel.PUSH})
"""Channels whose texts have a link and an image; an in-app text has actions as well."""


@dataclass(frozen=True, slots=True)
class TemplateContent:
    """The immutable content of a published version."""

    texts: tuple[TextSource, ...]
    """By channel, locale and variant, each once; a variant as written, with empty fields."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The version's other columns, by name, as JSON values: `sensitive_variables` ..."""


def words(
    channel: Channel,
    locale: str,
    *,
    title: str = "",
    body: str = "",
    html: str = "",
    part: InAppPart = in_app.EMPTY,
) -> TextSource:
    """Build a text without an SMS policy."""
    return normalize(
        TextSource(channel=channel, locale=locale, title=title, body=body, html=html, in_app=part)
    )


def has_several_lines(title: str) -> bool:
    """Return True for a title that the stored form would join to a line."""
    return len(title.splitlines()) > 1


def normalize(source: TextSource) -> TextSource:
    """Return the text in the stored form.

    A title becomes a single line, and an SMS has no title. SMS settings are dropped on other
    channels, so are link, image and actions (see LINKED), and the template of a vendor outside of
    chat; a limit of zero segments means no
    limit (see `publishing`). Blocks without HTML are compiled. A variant has no SMS settings.
    """
    one_way = dataclasses.replace(
        source,
        locale=locales.normalize(source.locale),
        title="" if source.channel in UNTITLED else " ".join(source.title.split()),
        body=_lines(source.body),
        html=_lines(source.html),
        blocks=_lines(source.blocks) if source.channel is Channel.EMAIL else "",
        max_segments=source.max_segments or None,
        in_app=in_app.normalize(_part_for(source.channel, source.in_app)),
        vendor_template=source.vendor_template
        if source.channel is Channel.CHAT
        else vendor_template.EMPTY,
    )
    one_way = wording.with_compiled_blocks(one_way)
    if source.channel is Channel.SMS and not source.variant:
        return one_way
    return dataclasses.replace(one_way, transliterate=False, max_segments=None, shorten_links=False)


def _part_for(channel: Channel, part: InAppPart) -> InAppPart:
    if channel is Channel.IN_APP:
        return part
    return part._replace(actions=()) if channel in LINKED else in_app.EMPTY


def content(
    texts: Iterable[TextSource], settings: Mapping[str, Any] | None = None
) -> TemplateContent:
    """Build a version's content, with texts in order."""
    in_order = sorted(texts, key=lambda text: (text.channel, text.locale, text.variant))
    return TemplateContent(tuple(in_order), dict(settings or {}))


def _lines(source: str) -> str:
    """Use Unix line ends, without empty lines at the end."""
    return source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
