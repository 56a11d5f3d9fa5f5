"""Notices of alerts: the next notice for an alert and a destination, and the time of the next try.

    raised       an alert that is open, not covered and not acknowledged, after `WAIT`
    reminded     each `REMIND_AFTER` while the alert is open and not acknowledged
    acknowledged to destinations that keep incidents themselves
    resolved     after the end of an alert whose notice was tried

An alert shorter than `WAIT` sends no notice. An intermittent cause raises several alerts: after
`FLAPPING_FROM` notices `raised` within `FLAPPING_WITHIN` a further alert of the same kind and
subject must last `FLAPPING_WAIT`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from notifications.core.rules.alerts import Severity
from providers.alert_destinations.events import NoticeEvent

WAIT: Final[Mapping[Severity, dt.timedelta]] = MappingProxyType({
    Severity.PAGE: dt.timedelta(seconds=5),
    Severity.TICKET: dt.timedelta(seconds=60),
})
"""Time from an alert to its first notice: an alert and its cause are raised within a second."""
FLAPPING_FROM: Final = 3
"""Notices `raised` of one kind and subject to a destination, after which the cause is flapping."""
FLAPPING_WITHIN: Final = dt.timedelta(hours=1)
FLAPPING_WAIT: Final = dt.timedelta(minutes=5)
"""The wait in place of `WAIT`: an operator who knows of the flapping learns when it stays."""
REMIND_AFTER: Final = dt.timedelta(hours=4)
GIVE_UP_AFTER: Final = dt.timedelta(hours=24)
"""Age of a notice after which no further try is made."""
_WAITS: Final = tuple(dt.timedelta(seconds=each) for each in (10, 30, 60, 120, 300, 900, 1_800))
"""Waits after the first tries; the last wait is the wait of all further tries."""
FAILING_AFTER: Final = 3
"""Consecutive failed calls after which a destination is failing, with an alert."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertFacts:
    """An alert, for the decision."""

    severity: Severity
    raised_at: dt.datetime
    resolved_at: dt.datetime | None
    is_covered: bool
    acknowledged_at: dt.datetime | None
    acknowledged_until: dt.datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeHistory:
    """The notices of an alert to a destination."""

    is_tried: bool = False
    """A notice about the open alert was tried at least once."""
    is_waiting: bool = False
    """A notice waits for a try."""
    open_at: dt.datetime | None = None
    """Creation of the latest notice `raised` or `reminded`."""
    acknowledged_at: dt.datetime | None = None
    """Creation of the latest notice `acknowledged`."""
    is_resolved: bool = False
    """The notice `resolved` exists."""
    raised_lately: int = 0
    """Notices `raised` to the destination within FLAPPING_WITHIN, of all alerts of the same kind
    and subject."""


def next_notice(
    alert: AlertFacts,
    history: NoticeHistory,
    *,
    keeps_incidents: bool,
    now: dt.datetime,
) -> NoticeEvent | None:
    """Return the event of the notice to make now; None: no notice."""
    if alert.resolved_at is not None:
        return NoticeEvent.RESOLVED if history.is_tried and not history.is_resolved else None
    if alert.is_covered:
        return None
    is_quiet = alert.acknowledged_until is not None and alert.acknowledged_until > now
    if history.open_at is None:
        is_flapping = history.raised_lately >= FLAPPING_FROM
        wait = FLAPPING_WAIT if is_flapping else WAIT[alert.severity]
        is_due = now - alert.raised_at >= wait
        return NoticeEvent.RAISED if is_due and not is_quiet else None
    if is_quiet:
        is_new = alert.acknowledged_at is not None and (
            history.acknowledged_at is None or history.acknowledged_at < alert.acknowledged_at
        )
        return NoticeEvent.ACKNOWLEDGED if keeps_incidents and is_new else None
    is_due = now - history.open_at >= REMIND_AFTER
    return NoticeEvent.REMINDED if is_due and not history.is_waiting else None


def next_try(*, attempts: int, age: dt.timedelta) -> dt.timedelta | None:
    """Return the wait before the next try of a failed notice; None: the notice is given up.

    Args:
        attempts: tries so far, at least one.
        age: time since the creation of the notice.
    """
    if age >= GIVE_UP_AFTER:
        return None
    return _WAITS[min(attempts, len(_WAITS)) - 1]


def wants(*, minimum: str, kinds: list[str], kind: str, severity: Severity) -> bool:
    """Return True if a destination takes alerts of a kind."""
    is_severe = severity is Severity.PAGE or minimum == Severity.TICKET
    return is_severe and (not kinds or kind in kinds)
