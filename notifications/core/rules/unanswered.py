"""The decision after an unanswered call: one table, channel by priority.

Sending again may reach the recipient twice; not sending may reach them never. If the provider drops
or hides a repeat, the message is sent again. Else urgency decides: a second OTP is better than
none, a second newsletter is not. A missing entry in the sent-ledger is no evidence.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Final

from notifications.core.rules.lane import Priority
from providers.contract import Channel, Repeat


class Answer(StrEnum):
    """Handling of an unanswered call."""

    RESEND = "resend"
    """As after an unavailable provider: the repeat does no harm."""
    RESEND_ONCE = "resend_once"
    """`unknown` for RECHECK_AFTER, so that a receipt can still come; then sent once more."""
    WAIT = "wait"
    """`unknown` until a receipt comes, or CLOSE_AFTER passes."""


RECHECK_AFTER: Final = dt.timedelta(seconds=5)
"""An OTP is worth a second one after five seconds of silence."""
CLOSE_AFTER: Final = dt.timedelta(hours=24)
"""Receipts for SMS and mail come within a day, if ever."""

_HARMLESS_TO_REPEAT: Final = frozenset({Channel.IN_APP})
"""Our own channel: writing a message's row twice writes it once."""


def answer_for(*, channel: Channel, priority: Priority, repeat: Repeat) -> Answer:
    """Return the handling of a delivery with an unanswered call."""
    if repeat is not Repeat.VISIBLE or channel in _HARMLESS_TO_REPEAT:
        return Answer.RESEND
    return Answer.RESEND_ONCE if priority.is_urgent else Answer.WAIT
