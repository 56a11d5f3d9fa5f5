"""A channel in the template editor: the sources of its text, and the preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from notifications.core.admin import block_kinds
from notifications.core.admin.preview_panel import Panel
from notifications.core.rules.in_app import MAX_ACTIONS, Action, InAppPart
from notifications.core.rules.templates.contents import LINKED, UNTITLED
from notifications.core.rules.texts import variants
from notifications.core.rules.texts.wording import TextSource
from providers.contract import Channel

_ACTION_LABELS: Final = {
    "id": "id",
    "label": "label",
    "url": "link (empty: callback to the producer)",
}


@dataclass(frozen=True, kw_only=True)
class EditorPanel(Panel):
    """A preview beside the sources of the text."""

    base: TextSource | None = None
    """The base text of a variant, whose values stand in place of empty fields."""

    @property
    def sources(self) -> list[tuple[str, str, str, int, str]]:
        """Return the parts of the channel.

        Each is field, label, source, rows of the text box, and the value of an empty field. The
        fields of an action have none: the actions of a variant replace those of the base text.
        """
        of_base = {name: source for name, _, source, _ in _sources(self.base)} if self.base else {}
        return [
            (*each, "" if "-action-" in each[0] else of_base.get(each[0], ""))
            for each in _sources(self.words)
        ]

    @property
    def is_mail(self) -> bool:
        """Return True for an e-mail, which is written in blocks or as HTML."""
        return self.words.channel is Channel.EMAIL

    @property
    def block_kinds(self) -> tuple[tuple[str, str], ...]:
        """Return label and source of each block to insert."""
        return block_kinds.BLOCK_KINDS

    @property
    def is_in_blocks(self) -> bool:
        """Return True for a mail in blocks, and for a new mail; a variant is as its base text."""
        is_as_base = self.base and not variants.has_content(self.words)
        words = self.base if self.base and is_as_base else self.words
        return bool(words.blocks) or not (words.body or words.html)


def _sources(words: TextSource) -> list[tuple[str, str, str, int]]:
    """Return the parts of a text: field, label, source, rows of the text box."""
    label = words.channel.label
    if words.channel is Channel.EMAIL:
        return [(f"{label}-title", "Subject", words.title, 1)]
    found = [(f"{label}-body", "Text", words.body, 4)]
    if words.channel not in UNTITLED:
        found.insert(0, (f"{label}-title", "Title", words.title, 1))
    if words.channel in LINKED:
        found += _part_fields(words.channel, words.in_app)
    return found


def _part_fields(channel: Channel, part: InAppPart) -> list[tuple[str, str, str, int]]:
    """Return the fields of a part and of one more action: name, label, source, rows."""
    prefix = channel.label
    found = [
        (f"{prefix}-url", "Link (https, or a path)", part.url, 1),
        (f"{prefix}-image_url", "Image (https, or a path)", part.image_url, 1),
    ]
    if channel is not Channel.IN_APP:
        return found
    actions = [*part.actions, Action("", "")][:MAX_ACTIONS]
    for number, action in enumerate(actions, start=1):
        for field, source in zip(Action._fields, action, strict=True):
            name = f"{prefix}-action-{number}-{field}"
            found.append((name, f"Action {number}: {_ACTION_LABELS[field]}", source, 1))
    return found
