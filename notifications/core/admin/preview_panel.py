"""The preview of a text of a template, as `admin/preview_frame.html` draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A channel in the chosen locale: sources and preview."""

    words: TextSource
    """Empty sources if the locale has no text."""
    instead: str
    """The fallback locale for recipients if the locale has no text; else empty."""
    preview: Preview | None
    """None without a text."""

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
