"""The preview of a text of a template, as `admin/preview_frame.html` draws it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from notifications.core.admin import preview_images
from notifications.core.admin.preview_images import MailPage
from notifications.core.rules.attachments import Attachment
from notifications.core.rules.language import locales
from notifications.core.rules.templates.previews import Preview
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

FRAMES: Final = {
    Channel.PUSH: "phone",
    Channel.SMS: "sms",
    Channel.EMAIL: "mail",
    Channel.IN_APP: "inbox",
    Channel.WEBHOOK: "plain",
    Channel.CHAT: "chat",
}
"""The preview frame of every channel."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A channel in the chosen locale: sources and preview."""

    words: TextSource
    """Empty sources if the locale has no text."""
    instead: str
    """The fallback locale for recipients if the locale has no text; else empty."""
    preview: Preview | None
    """None without a text."""
    files: Sequence[Attachment] = ()
    """The files of the version, whose images the preview of a mail shows."""

    @functools.cached_property
    def html(self) -> MailPage:
        """Return the HTML part of a mail with its images."""
        rendered = self.preview.rendered if self.preview else None
        return preview_images.show(rendered.html if rendered else "", self.files)

    @property
    def frame(self) -> str:
        """Return the preview frame."""
        return FRAMES[self.words.channel]

    @property
    def labels(self) -> list[str]:
        """Return the labels of the buttons of an in-app text."""
        rendered = self.preview.rendered if self.preview else None
        return [action.label for action in rendered.in_app.actions] if rendered else []

    @property
    def direction(self) -> str:
        """Return the text direction of the shown locale."""
        shown = self.preview.words if self.preview else self.words
        return locales.direction(shown.locale)
