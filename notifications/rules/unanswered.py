"""What to do when bytes were sent and no answer came: one table, channel by priority.

Sending again may reach the person twice; not sending may reach them never. Where the provider drops
or hides a repeat there is no dilemma. Elsewhere urgency decides: a second OTP is better than none,
a second newsletter is not. The absence of an entry in the sent-ledger is never evidence that
nothing was sent.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Final

from notifications.rules.lane import Priority
from providers.contract import Channel, Repeat


class Answer(StrEnum):
    """What follows a call that nobody answered."""

    RESEND = "resend"
    """Like an unavailable provider: the repeat does no harm."""
    RESEND_ONCE = "resend_once"
    """`unknown` for RECHECK_AFTER, so that a receipt can still come; then once more."""
    WAIT = "wait"
    """`unknown` until a receipt heals it, or CLOSE_AFTER passes."""


RECHECK_AFTER: Final = dt.timedelta(seconds=5)
"""An OTP is worth a second one after five seconds of silence."""
CLOSE_AFTER: Final = dt.timedelta(hours=24)
"""Receipts for SMS and mail that come at all come within a day."""

_HARMLESS_TO_REPEAT: Final = frozenset({Channel.IN_APP})
"""Our own channel: writing a message's row twice writes it once."""


def answer_for(*, channel: Channel, priority: Priority, repeat: Repeat) -> Answer:
    """What to do with a delivery whose call went unanswered."""
    if repeat is not Repeat.VISIBLE or channel in _HARMLESS_TO_REPEAT:
        return Answer.RESEND
    return Answer.RESEND_ONCE if priority.is_urgent else Answer.WAIT
