"""Parts of messages on one channel: files of an e-mail, options of an in-app message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from typing import Any

from providers.records import record


@record
class Attachment:
    """A file of an e-mail."""

    name: str = field(repr=False)
    """The file name for the recipient, without a path and without control characters."""
    media_type: str
    """`application/pdf`, without parameters."""
    content: bytes = field(repr=False)
    """Never logged."""
    inline_id: str = field(default="", repr=False)
    """The HTML shows the image as `cid:` and this id; empty: the file is not shown in the text."""


@record
class InAppAction:
    """A button of an in-app message."""

    id: str
    label: str = field(repr=False)
    url: str = field(default="", repr=False)
    """Empty: the click goes to the producer."""


@record
class InApp:
    """The parts that only a message on the channel in_app has."""

    recipient_id: int
    category: str = ""
    url: str = field(default="", repr=False)
    image_url: str = field(default="", repr=False)
    actions: tuple[InAppAction, ...] = field(default=(), repr=False)
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """JSON object of the producer for the recipient's app."""
    lifetime: timedelta | None = None
    """Time for which the message is shown; None: as long as the inbox keeps messages."""
