"""The alerts that follow from another open alert.

A covered alert is shown below its cause and leaves the installation in no notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from notifications.core.rules.alerts import AlertKind


class SameSubject(StrEnum):
    """The common part of the subjects of a covered alert and of the cause."""

    CHANNEL = "channel"
    """The last word: `email` of `ses email`."""
    WHOLE = "subject"
    """The whole subject."""
    ANY = "any"
    """No part: the cause concerns the whole installation."""

    def part(self, subject: str) -> str:
        """Return the compared part of a subject."""
        words = subject.split() or [""]
        match self:
            case SameSubject.CHANNEL:
                return words[-1]
            case SameSubject.WHOLE:
                return subject
            case SameSubject.ANY:
                return ""


class Coverage(NamedTuple):
    """A rule: an open alert of `cause` covers alerts of `kind`."""

    kind: AlertKind
    cause: AlertKind
    same: SameSubject


COVERED: Final = (
    Coverage(AlertKind.BREAKER_OPEN, AlertKind.PROVIDER_MISCONFIGURED, SameSubject.WHOLE),
    Coverage(AlertKind.BREAKER_OPEN, AlertKind.REFUSALS_NOT_BELIEVED, SameSubject.WHOLE),
    Coverage(AlertKind.PROVIDER_FAILING, AlertKind.PROVIDER_MISCONFIGURED, SameSubject.WHOLE),
    Coverage(AlertKind.PROVIDER_FAILING, AlertKind.REFUSALS_NOT_BELIEVED, SameSubject.WHOLE),
    Coverage(AlertKind.PROVIDER_FAILING, AlertKind.BREAKER_OPEN, SameSubject.WHOLE),
    Coverage(AlertKind.DELIVERY_RATE_LOW, AlertKind.BREAKER_OPEN, SameSubject.CHANNEL),
    Coverage(AlertKind.DELIVERY_RATE_LOW, AlertKind.PROVIDER_FAILING, SameSubject.CHANNEL),
    Coverage(AlertKind.SERVICE_LEVEL_AT_RISK, AlertKind.SERVICE_LEVEL_MISSED, SameSubject.WHOLE),
    Coverage(AlertKind.QUEUE_DEEP, AlertKind.QUEUE_OVERSIZED, SameSubject.WHOLE),
    Coverage(AlertKind.WORKERS_WANTED, AlertKind.QUEUE_OVERSIZED, SameSubject.WHOLE),
    Coverage(AlertKind.DELIVERIES_STUCK, AlertKind.BEAT_DEAD, SameSubject.ANY),
    Coverage(AlertKind.DELIVERIES_ORPHANED, AlertKind.BEAT_DEAD, SameSubject.ANY),
    Coverage(AlertKind.ROLLUPS_LATE, AlertKind.BEAT_DEAD, SameSubject.ANY),
    Coverage(AlertKind.SWEEP_LATE, AlertKind.BEAT_DEAD, SameSubject.ANY),
    Coverage(AlertKind.SWEEP_UNFINISHED, AlertKind.BEAT_DEAD, SameSubject.ANY),
    Coverage(AlertKind.BROKER_AWAY, AlertKind.BROKER_AWAY, SameSubject.ANY),
    Coverage(AlertKind.STATE_AWAY, AlertKind.STATE_AWAY, SameSubject.ANY),
    Coverage(AlertKind.FLIGHT_RECORDER_OFF, AlertKind.FLIGHT_RECORDER_OFF, SameSubject.ANY),
    Coverage(AlertKind.REPLICA_LEFT, AlertKind.REPLICA_LEFT, SameSubject.ANY),
)
"""The first rule with an open cause decides; `docs/alerts.md` has the table.

A kind that covers itself has a subject for each process: the oldest alert is the cause."""
_RULES: Final[Mapping[str, tuple[Coverage, ...]]] = MappingProxyType({
    str(kind): tuple(rule for rule in COVERED if rule.kind is kind) for kind in AlertKind
})


class OpenAlert(NamedTuple):
    """An open alert, for the rules of coverage."""

    id: int
    kind: str
    subject: str


def causes(open_alerts: Iterable[OpenAlert]) -> dict[int, int]:
    """Return the id of the cause of each covered alert."""
    rows = sorted(open_alerts)
    by_cause: dict[tuple[str, SameSubject, str], int] = {}
    for row in rows:
        for same in SameSubject:
            by_cause.setdefault((row.kind, same, same.part(row.subject)), row.id)
    covered: dict[int, int] = {}
    for row in rows:
        for rule in _RULES.get(row.kind, ()):
            cause = by_cause.get((str(rule.cause), rule.same, rule.same.part(row.subject)))
            if cause not in {None, row.id}:
                covered[row.id] = cause
                break
    return covered
