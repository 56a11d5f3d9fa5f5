"""Service levels: samples of the backlog, and alerts about burn rates, depth, lag and failures.

Each run also counts the reach (`rules.reach`).

The sweep also raises the alerts about deliveries that no statement moves (`unreachable.sql`) and
about missing live processes.

Safe to run twice (a minute has one sample), late (a minute without a sample counts nowhere) or
never (no such alert is raised). Each run resolves the alerts without a cause any more.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator
from typing import Final, NamedTuple

from notifications.core import conf
from notifications.core.figures import reach
from notifications.core.rules import service_levels as rules
from notifications.core.rules.alerts import AlertKind, Severity
from notifications.core.rules.lane import Priority
from notifications.core.rules.reach import RECENT, WINDOW, event_share
from notifications.core.rules.rollups import Latency
from notifications.core.rules.service_levels import (
    DELIVERED,
    LENGTHS,
    PUNCTUAL,
    REACHED,
    URGENT_CALLED,
    URGENT_DELIVERED,
    URGENT_MS,
    EventShare,
    ServiceLevel,
)
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts, rollups, unreachable
from notifications.core.store.postgres import service_levels as figures
from notifications.core.store.redis import live_processes, state
from notifications.core.store.redis import reach as newest_reach
from notifications.core.sweeps.rounds import Swept

_HOUR: Final = dt.timedelta(hours=1)
_TEN_MINUTES: Final = dt.timedelta(minutes=10)
_KINDS: Final = (
    AlertKind.SERVICE_LEVEL_MISSED,
    AlertKind.SERVICE_LEVEL_AT_RISK,
    AlertKind.URGENT_LANE_BEHIND,
    AlertKind.LANE_BEHIND,
    AlertKind.QUEUE_DEEP,
    AlertKind.DELIVERIES_STUCK,
    AlertKind.DELIVERIES_ORPHANED,
    AlertKind.DELIVERIES_UNREACHABLE,
    AlertKind.RETRIES_DEEP,
    AlertKind.RETRY_SUCCESS_LOW,
    AlertKind.PERMANENT_FAILURES_HIGH,
    AlertKind.UNKNOWN_GROW,
    AlertKind.PROCESSING_SLOW,
    AlertKind.ROLLUPS_LATE,
    AlertKind.NO_LIVE_PROCESS,
)
"""The kinds that this sweep raises and resolves."""
_SWEPT: Final = (*(Status.SCHEDULED, Status.RETRYING, Status.SENT, Status.UNKNOWN),)
"""Statuses whose due rows a sweep handles within seconds."""
_NAMED: Final = 8
"""Unreachable deliveries that the alert names: as many as its detail holds."""
_URGENT_LEVELS: Final = (
    (URGENT_CALLED, Latency.ACCEPT_TO_CALL),
    (URGENT_DELIVERED, Latency.ACCEPT_TO_DELIVERED),
)
_URGENT: Final = frozenset({Priority.P0, Priority.P1})


class Problem(NamedTuple):
    """A current cause of an alert."""

    kind: AlertKind
    subject: str
    detail: str


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Take a sample, raise and resolve the alerts; returns the number of problems."""
    figures.sample(now=now)
    figures.forget_samples(now=now, limit=limit)
    problems = [
        *_levels(now),
        *_backlog(now),
        *_overdue(now),
        *_unreachable(),
        *_shares(now),
        *_live_processes(),
        *_reach(now),
    ]
    for problem in problems:
        alerts.raise_once(problem.kind, problem.subject, problem.detail)
    current = {(problem.kind, problem.subject) for problem in problems}
    for kind in _KINDS:
        for subject in alerts.open_subjects(kind):
            if (kind, subject) not in current:
                alerts.resolve(kind, subject)
    return Swept(len(problems))


def _levels(now: dt.datetime) -> Iterator[Problem]:
    delivered = {length: found.delivered for length, found in _counts(now).items()}
    yield from _level(DELIVERED, delivered)
    for level, latency in _URGENT_LEVELS:
        shares = figures.within(URGENT_MS, latency, Priority.P0, LENGTHS, now=now)
        yield from _level(level, shares)
    for priority, (level, limit) in PUNCTUAL.items():
        shares = figures.punctual_minutes(limit, priority, LENGTHS, now=now)
        yield from _level(level, shares)


def _counts(now: dt.datetime) -> dict[dt.timedelta, figures.WindowCounts]:
    return figures.counts(LENGTHS, now=now)


def _level(level: ServiceLevel, shares: figures.Shares) -> Iterator[Problem]:
    window = rules.burning(level, shares)
    if window is None:
        return
    is_page = level.pages and window.severity is Severity.PAGE
    kind = AlertKind.SERVICE_LEVEL_MISSED if is_page else AlertKind.SERVICE_LEVEL_AT_RISK
    hours = window.long // _HOUR
    found = shares[window.long]
    detail = (
        f"{1 - found.share:.2%} good in {hours} h, target {level.target:.1%}:"
        f" {found.bad} of {found.good + found.bad} bad"
    )
    yield Problem(kind, level.name, detail)


def _backlog(now: dt.datetime) -> Iterator[Problem]:
    for priority in Priority:
        recent = figures.recent_points(priority, now=now)
        if not recent:
            continue
        newest = recent[-1]
        if rules.is_behind(priority, recent):
            is_urgent = priority in _URGENT
            kind = AlertKind.URGENT_LANE_BEHIND if is_urgent else AlertKind.LANE_BEHIND
            waited = newest.behind.total_seconds()
            yield Problem(kind, priority.name, f"a due delivery has waited for {waited:.0f} s")
        if rules.is_deep(recent):
            yield Problem(AlertKind.QUEUE_DEEP, priority.name, f"{newest.depth} or more are due")
        elif rules.is_unusual(
            [each.depth for each in recent], figures.usual_depth(priority, "depth", now=now)
        ):
            detail = f"{newest.depth} are due, far more than usual, and the number does not fall"
            yield Problem(AlertKind.QUEUE_DEEP, priority.name, detail)
        usual = figures.usual_depth(priority, "retrying", now=now)
        retrying = [each.retrying for each in recent]
        if rules.is_unusual(retrying, usual, least=rules.LEAST_RETRYING):
            detail = f"{newest.retrying:,} wait for a retry; {usual.mean:,.0f} are usual"
            yield Problem(AlertKind.RETRIES_DEEP, priority.name, detail)


def _overdue(now: dt.datetime) -> Iterator[Problem]:
    for kind, statuses, patience in (
        (AlertKind.DELIVERIES_STUCK, _SWEPT, rules.STUCK_AFTER),
        (AlertKind.DELIVERIES_ORPHANED, (Status.SENDING,), rules.ORPHANED_AFTER),
    ):
        found = figures.overdue(statuses, before=now - patience)
        if found:
            priority, channel, status, due_at = min(found, key=lambda row: row[3])
            detail = (
                f"the oldest is {priority.name} {channel.label}, {status.label}, due since"
                f" {due_at:%Y-%m-%d %H:%M} UTC; {len(found)} lanes and statuses are late"
            )
            yield Problem(kind, "", detail)


def _unreachable() -> Iterator[Problem]:
    found = unreachable.find()
    if found:
        named = ", ".join(f"{each.id} ({each.fault})" for each in found[:_NAMED])
        count = f"{len(found)} or more" if len(found) >= unreachable.MOST else str(len(found))
        yield Problem(AlertKind.DELIVERIES_UNREACHABLE, "", f"{count} deliveries: {named}")


def _shares(now: dt.datetime) -> Iterator[Problem]:
    hour = figures.counts([_HOUR], now=now)[_HOUR]
    thresholds = conf.current().alert_thresholds
    if rules.is_retry_success_low(hour.retried, thresholds.retry_success_low):
        yield Problem(AlertKind.RETRY_SUCCESS_LOW, "", _good(hour.retried, "retried deliveries"))
    if rules.is_permanent_high(hour.permanent, thresholds.permanent_failures_high):
        detail = f"{hour.permanent.bad} deliveries were rejected for good in an hour"
        yield Problem(AlertKind.PERMANENT_FAILURES_HIGH, "", detail)
    if rules.is_unknown_high(hour.unknown, thresholds.unknown_grow):
        detail = f"{hour.unknown.bad} deliveries had no answer in an hour"
        yield Problem(AlertKind.UNKNOWN_GROW, "", detail)
    calls = figures.within(
        thresholds.processing_slow, Latency.ACCEPT_TO_CALL, Priority.P0, [_TEN_MINUTES], now=now
    )
    if rules.is_processing_slow(calls[_TEN_MINUTES]):
        share, limit = calls[_TEN_MINUTES].share, thresholds.processing_slow
        detail = f"{share:.0%} of P0 took over {limit:g} ms in ten minutes"
        yield Problem(AlertKind.PROCESSING_SLOW, "P0", detail)
    lag = rollups.lag(now=now)
    if lag > rules.ROLLUPS_LATE:
        detail = f"events of {lag.total_seconds():.0f} s are not counted"
        yield Problem(AlertKind.ROLLUPS_LATE, "", detail)


def _live_processes() -> Iterator[Problem]:
    """Yield the alert's cause; while the state Redis is away an open alert stays open."""
    if not conf.current().live_url:
        return
    try:
        is_missing = not live_processes.load()
    except state.Away:
        is_missing = bool(alerts.open_subjects(AlertKind.NO_LIVE_PROCESS))
    if is_missing:
        detail = f"no live process has reported lately for {conf.current().live_url}"
        yield Problem(AlertKind.NO_LIVE_PROCESS, "", detail)


def _reach(now: dt.datetime) -> Iterator[Problem]:
    """Keep the reach for `/metrics` and Overview, and yield the problem of its service level."""
    found = reach.count(now=now)
    with contextlib.suppress(state.Away):
        newest_reach.write(found)
    yield from _level(
        REACHED, {WINDOW: event_share(found.total), RECENT: event_share(found.recent)}
    )


def _good(share: EventShare, noun: str) -> str:
    return f"{1 - share.share:.0%} of {share.good + share.bad} {noun} were sent in an hour"
