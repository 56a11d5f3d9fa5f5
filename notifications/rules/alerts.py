"""Alerts for operators: each kind with the sentence that admin and the API show.

An alert lasts as long as its cause: every observation of the cause raises the alert again, and the
end of the cause resolves it. The end of a cause in `RENEWED` is not observed: such an alert ends
`GONE_AFTER` without a new observation.
"""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Final, Self


class AlertKind(StrEnum):
    """The kinds of alerts; Postgres stores the value."""

    sentence: str
    """Meaning, and where to look."""

    def __new__(cls, value: str, sentence: str) -> Self:
        """Create a member from a value and a sentence."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    BEAT_DEAD = "beat_dead", "No sweep has run lately: check beat and the worker for ops."
    BREAKER_OPEN = "breaker_open", "A provider rests: deliveries wait or fail over; see Breakers."
    CLOCK_SKEW = "clock_skew", "The clock of a process differs from the database's: check NTP."
    DEAD_LETTERS_GROW = (
        "dead_letters_grow",
        "Many deliveries gave up in minutes: see Dead letters.",
    )
    DELIVERY_RATE_LOW = (
        "delivery_rate_low",
        "A channel sends under 99.5 % of its deliveries: see Deliveries.",
    )
    ENDPOINTS_REST = "endpoints_rest", "Recipients' endpoints do not answer: see Breakers."
    FEED_HELD = (
        "feed_held",
        "A transaction stays open: the change feed and status webhooks wait for its end.",
    )
    NO_PROVIDER = "no_provider", "Deliveries wait for a provider that takes them: check the routes."
    PROVIDER_FAILING = (
        "provider_failing",
        "Most calls of a provider fail or are rejected: see its status page.",
    )
    PROVIDER_MISCONFIGURED = "provider_misconfigured", "A provider refuses our account: check it."
    REFUSALS_NOT_BELIEVED = "refusals_not_believed", "Most calls are refused: check the settings."
    SCHEDULE_FAILED = "schedule_failed", "A schedule could not make its notification: see its page."
    SWEEP_FAILED = (
        "sweep_failed",
        "A sweep or some of its rows failed: see the ops log.",
    )
    SWEEP_LATE = "sweep_late", "A sweep has not begun for a while: see Periodic tasks."
    SWEEP_OFF = "sweep_off", "An operator switched a periodic task off: see Periodic tasks."
    SWEEP_UNFINISHED = "sweep_unfinished", "A sweep does not end: look for locks in the database."
    URGENT_DEAD_LETTERS = "urgent_dead_letters", "P0 or P1 gave up: replay or discard each."
    WEBHOOK_PAUSED = (
        "webhook_paused",
        "A producer's webhook endpoint failed for an hour and is paused: see Webhook endpoints.",
    )


def sentence(kind: str) -> str:
    """Explain a stored kind; an unknown kind is returned as it is."""
    return _SENTENCES.get(kind, kind)


_SENTENCES: Final = {str(each): each.sentence for each in AlertKind}


BEAT: Final = "beat"
"""The subject of `BEAT_DEAD`."""
RENEWED: Final = frozenset({
    AlertKind.NO_PROVIDER,
    AlertKind.PROVIDER_MISCONFIGURED,
    AlertKind.REFUSALS_NOT_BELIEVED,
})
"""Raised again by every delivery that meets the cause, and resolved by time."""
GONE_AFTER: Final = dt.timedelta(minutes=5)
"""Ten times as long as a delivery waits before it meets the cause again."""
