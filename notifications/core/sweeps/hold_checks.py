"""Hold checks: after a change of a recipient's settings, end the holds that the settings caused.

    do-not-disturb, quiet hours, producer's night    by the current settings and timezone
    digest                                           by the current choice and timezone
    frequency cap                                    as many rows as the cap has room for

Triggers note a change (`models.HoldCheck`), so a change costs one row for any number of waiting
deliveries. The sweep `release` calls `end_holds` each second, which examines the rows of a
recipient page by page. An ended hold is due now, and the gates decide again before the call:
another hold can follow, and nothing leaves during quiet hours. A row with a right hold stays as it
is.

A worker can store a hold by the former settings some seconds after the change. Each recipient is
therefore checked twice, the second time after the longest lease.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from notifications.core import clock, conf
from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.frequency_caps import cap_for
from notifications.core.rules.reasons import Reason
from notifications.core.rules.switches import SETTLED_AFTER
from notifications.core.rules.times import deferral, digest_times
from notifications.core.rules.times.deferral import ProducerDay, Wishes
from notifications.core.store.cached import producer_windows
from notifications.core.store.postgres import hold_checks, id_ranges
from notifications.core.store.postgres.hold_checks import CheckResult, HoldCheckDue, Row
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.store.rate_limits.frequency_caps import Window
from notifications.core.store.redis import state
from notifications.core.sweeps import loops, rounds
from notifications.core.sweeps.rounds import Swept
from providers.contract import Channel

_CHECKS: Final = 50
"""Checks of one statement."""
_PAGE: Final = 500
"""Held rows of one recipient that are read in one statement, and rows of a transaction."""
_AWAY_FOR: Final = dt.timedelta(seconds=15)
"""Wait of a check while the state Redis, which counts the caps, is away."""
_SLACK: Final = dt.timedelta(seconds=1)
_ANY_DAY: Final = ProducerDay()


def end_holds(*, ends_at: float) -> Swept:
    """Make held rows due if the hold has no cause; counts the rows.

    Safe to run twice, concurrently or late: a row is made due once, and without any run the rows
    come due at the end of the former hold.
    """
    done = loops.repeat(_check_batch, ends_at=ends_at)
    if done.moved:
        id_ranges.forget()  # a row of an older day is due now
    return done


def _check_batch() -> Swept:
    checks = hold_checks.due(limit=_CHECKS)
    return Swept(_check(checks) if checks else 0, more=bool(checks))


def _check(checks: Sequence[HoldCheckDue]) -> int:
    """Examine a page of the held rows of each recipient; returns the number of ended holds."""
    now = clock.now()
    held: dict[int, list[Row]] = defaultdict(list)
    for row in hold_checks.rows_on_hold(checks, page=_PAGE):
        held[row["recipient_id"]].append(row)
    over: list[UUID] = []
    results = []
    for check in checks:
        rows = held[check.recipient_id]
        try:
            over += _over(check, rows, now)
        except state.Away:
            results.append(CheckResult(check, now + _AWAY_FOR, check.checked_to))
        else:
            results.append(_result(check, rows, now))
    moved = 0
    for first in range(0, len(over), _PAGE):
        moved += hold_checks.end_holds(over[first : first + _PAGE], grace=rounds.retry_grace())
    hold_checks.store(results)
    return moved


def _result(check: HoldCheckDue, rows: Sequence[Row], now: dt.datetime) -> CheckResult:
    if len(rows) == _PAGE:
        return CheckResult(check, check.changed_at, rows[-1]["id"])
    settled_at = check.changed_at + SETTLED_AFTER
    return CheckResult(check, settled_at if settled_at > now else None)


def _over(check: HoldCheckDue, rows: Sequence[Row], now: dt.datetime) -> list[UUID]:
    """Return the rows with a hold that has no cause in the recipient's settings.

    Raises:
        state.Away: Redis did not answer.
    """
    over, capped = [], defaultdict(list)
    for row in rows:
        if row["reason"] == Reason.CAP:
            capped[Channel(row["channel"]), Priority(row["priority"])].append(row["id"])
        elif row["reason"] == Reason.DIGEST:
            over += [row["id"]] * _has_another_digest_time(check, row)
        else:
            over += [row["id"]] * _is_quiet_over(check, row, now)
    for (channel, priority), ids in capped.items():
        over += ids[: _room(check, channel, priority)]
    return over


def _is_quiet_over(check: HoldCheckDue, row: Row, now: dt.datetime) -> bool:
    wishes = Wishes(
        channel=Channel(row["channel"]),
        timezone=check.timezone,
        windows=check.windows,
        do_not_disturb_until=check.do_not_disturb_until,
    )
    return deferral.is_over(
        wishes,
        priority=Priority(row["priority"]),
        day=_ANY_DAY if check.timezone else producer_windows.of(row["producer_id"]),
        due_at=row["due_at"],
        ramp=conf.current().release_ramp,
        now=now,
    )


def _has_another_digest_time(check: HoldCheckDue, row: Row) -> bool:
    """Return True if the choice leads to another time; the sweep `digests` sets a later one."""
    choice = digest_times.choice_of(check.digests, type_=row["type"], category=row["category"])
    at = digest_times.leaves_at(choice, timezone=check.timezone, after=row["begins_at"])
    due_at: dt.datetime = row["due_at"]
    return abs(at - due_at) > _SLACK


def _room(check: HoldCheckDue, channel: Channel, priority: Priority) -> int | None:
    """Return how many notifications the cap has room for; None without a cap."""
    cap = cap_for(priority, channel, own=check.caps, usual=conf.current().caps)
    if cap is None:
        return None
    [counted] = frequency_caps.counts([(Window(check.recipient_id, channel), cap)])
    return max(0, cap.limit - counted)
