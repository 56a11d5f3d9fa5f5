"""Client receipts: the meaning of a report by the recipient's own app.

    received    DELIVERED   the app got the message
    dismissed   DELIVERED   the message was shown and swiped away
    opened      READ        the recipient opened the message
    clicked     READ        the recipient followed a link or a button of the message

A dismissed message was on the screen, but a swipe proves no reading: the person may have removed
ten messages at once. So DISMISSED counts as delivered, and the reason tells the difference.

A status keeps the reason of the report that set the status: a click after an opening changes
nothing, and so does a repeat. Of several reports for one delivery in one call the most specific
report applies, in any order.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import DELIVER, READ


class ClientReceiptKind(StrEnum):
    """The event that the app reports."""

    RECEIVED = "received"
    """The app got the message."""
    DISMISSED = "dismissed"
    """The message was shown and swiped away."""
    OPENED = "opened"
    """The recipient opened the message."""
    CLICKED = "clicked"
    """The recipient followed a link or a button of the message."""


class TokenHolder(NamedTuple):
    """The recipient in a client token, with the right to report on own deliveries only."""

    recipient_id: int
    mode: Mode


MEANS: Final = MappingProxyType({
    ClientReceiptKind.RECEIVED: (DELIVER, Reason.CLIENT_RECEIVED),
    ClientReceiptKind.DISMISSED: (DELIVER, Reason.CLIENT_DISMISSED),
    ClientReceiptKind.OPENED: (READ, Reason.CLIENT_OPENED),
    ClientReceiptKind.CLICKED: (READ, Reason.CLIENT_CLICKED),
})
"""Transition and reason by kind, the more telling kind later."""
