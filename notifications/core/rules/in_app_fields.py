"""Request fields of in-app messages: link, image and actions of raw content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from notifications.core.rules import in_app, request_faults
from notifications.core.rules.in_app import Action, InAppPart

MAX_DATA_BYTES: Final = 4096
"""The `inbox_data` of a notification, as JSON."""
LONGEST_LIFE: Final = 365 * 86_400
"""Seconds; an item ends earlier with the retention of inboxes."""


def _no_nul(text: object) -> object:
    if isinstance(text, str) and "\x00" in text:
        msg = "must not contain the NUL character"
        raise ValueError(msg)
    return text


ActionId = Annotated[str, StringConstraints(pattern=in_app.ACTION_ID)]
Url = Annotated[str, Field(max_length=in_app.MAX_URL), BeforeValidator(_no_nul)]
Label = Annotated[
    str,
    StringConstraints(min_length=1, max_length=in_app.MAX_LABEL, strip_whitespace=True),
    BeforeValidator(_no_nul),
]


class ContentAction(BaseModel):
    """A button of an in-app message."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: ActionId
    """Name of the action in the webhook `inbox.action`; unique in the message."""
    label: Label
    """The text of the button."""
    url: Url | None = None
    """Opened by the button: an https URL, a path, or a URL of an allowed app scheme. Null: the
    button tells the producer (webhook `inbox.action`)."""


def part_of(url: str, image_url: str, actions: Sequence[ContentAction]) -> InAppPart:
    """Return the part of raw content."""
    return InAppPart(
        url, image_url, tuple(Action(each.id, each.label, each.url or "") for each in actions)
    )


def check_structure(part: InAppPart) -> None:
    """Check the actions of a part.

    Raises:
        error_at: the first fault, at its field.
    """
    for place, fault in in_app.structure_faults(part):
        raise request_faults.error_at(fault, *place)


def without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out empty in-app fields, as releases wrote content that did not know the fields."""
    return {name: value for name, value in fields.items() if value or name not in InAppPart._fields}


def request_fields(stored: object) -> dict[str, Any]:
    """Return the request fields of stored in-app options, for a repeated request."""
    if not isinstance(stored, dict):
        return {}
    found = {"inbox_expires_in_seconds": stored.get("expires_in"), "inbox_data": stored.get("data")}
    return {name: value for name, value in found.items() if value}
