"""The template editor's fields of in-app and push texts: link, image; in-app: actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notifications.core.rules.in_app import MAX_ACTIONS, Action, InAppPart
from providers.contract import Channel

_LABELS: Final = {"id": "id", "label": "label", "url": "link (empty: callback to the producer)"}


def sources(channel: Channel, part: InAppPart) -> list[tuple[str, str, str, int]]:
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
            found.append((name, f"Action {number}: {_LABELS[field]}", source, 1))
    return found


def parse(channel: Channel, form: Mapping[str, str]) -> InAppPart:
    """Return the part of a submitted form; an action without any text is none."""
    prefix = channel.label
    actions = [
        Action(*(form.get(f"{prefix}-action-{number}-{field}", "") for field in Action._fields))
        for number in range(1, MAX_ACTIONS + 1)
    ]
    return InAppPart(
        form.get(f"{prefix}-url", ""), form.get(f"{prefix}-image_url", ""), tuple(actions)
    )
