"""What a run came to, for a terminal and for docs/guarantees.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import psycopg

from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from tests.chaos.facts import Facts
from tests.chaos.plans import Deed, Plan
from tests.chaos.reconcile import Account, Promise, p99
from tests.chaos.stage import VAR, Stage

_MOST_SHOWN: Final = 8
"""Timelines of each promise: the first tell what the others would."""
_EVENTS: Final = """
    SELECT to_char(at, 'HH24:MI:SS.MS'), status, reason, detail FROM event
    WHERE notification_id = %s ORDER BY seq
"""
_ATTEMPTS: Final = """
    SELECT to_char(started_at, 'HH24:MI:SS.MS'), provider, outcome, code, latency_ms FROM attempt
    WHERE notification_of(delivery_id) = %s ORDER BY number
"""


def table(plan: Plan, facts: Facts, account: Account) -> list[str]:
    """The run's numbers, a line each."""
    visible = (
        f"{account.repeats_in_flight} in flight at a fault,"
        f" {account.repeats_unanswered} that the provider never answered"
    )
    unknown = (
        f"{account.unknown_in_flight} in flight at a fault,"
        f" {account.unknown_unanswered} that the provider never answered,"
        f" {account.refused} refused by the provider, {account.never_arrived} read by no provider"
    )
    figures = {
        "accepted": account.accepted,
        "sent": account.sent,
        "not sent": account.not_sent,
        "expired by TTL": account.expired,
        "dropped by `low`": account.dropped,
        "still open": account.still_open,
        "visible duplicates": f"{account.repeats} ({visible})",
        "unknown": f"{account.unknown} ({unknown})",
        "statuses contradicted": account.contradicted,
        "calls": f"{len(facts.calls)} ({account.in_flight} in flight at a fault)",
        "worst delay, s": _delays(account),
        "later than level": account.late,
        "faults": _faults(facts),
        "ended by themselves": ", ".join(facts.ended_alone) or "none",
    }
    counts = Counter(each.promise for each in account.broken)
    verdict = ", ".join(f"{count} {name.value}" for name, count in counts.items())
    figures["verdict"] = f"BROKEN: {verdict}" if verdict else "all held"
    return [plan.name, *(f"  {name:<22}  {value}" for name, value in figures.items())]


def markdown(plan: Plan, facts: Facts, account: Account) -> str:
    """The run as a row of the table in docs/guarantees.md."""
    kills = sum(fault.deed != Deed.STEER.value for fault in facts.faults)
    cells = (
        plan.name,
        f"{account.accepted:,}",
        str(kills),
        str(account.not_sent),
        f"{account.repeats} of {account.in_flight}",
        f"{account.unknown} of {account.in_flight}",
        str(account.contradicted),
        _delays(account),
    )
    return f"| {' | '.join(cells)} |"


def _delays(account: Account) -> str:
    return ", ".join(
        f"{priority.name} {max(delays):.1f} (p99 {p99(delays):.1f})"
        for priority, delays in sorted(account.delays.items())
    )


def _faults(facts: Facts) -> str:
    counts = Counter(
        f"{fault.target} {fault.deed}" for fault in facts.faults if fault.deed != Deed.STEER.value
    )
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def timelines(account: Account, facts: Facts, stage: Stage) -> Iterator[str]:
    """What is broken, with the notification's timeline, its calls and the faults around them."""
    for promise in Promise:
        broken = [each for each in account.broken if each.promise is promise]
        for each in broken[:_MOST_SHOWN]:
            yield f"{promise.value}: {each.what}"
            if each.notification_id:
                yield from _timeline(each.notification_id, facts, stage)
        rest = [each.notification_id or each.what for each in broken[_MOST_SHOWN:]]
        if rest:
            (VAR / "broken.txt").write_text("\n".join(rest))
            yield f"{promise.value}: {len(rest)} more: {VAR / 'broken.txt'}"


def slowest(account: Account, facts: Facts, stage: Stage) -> Iterator[str]:
    """The timelines of the slowest P0 and P1."""
    for priority in (Priority.P0, Priority.P1):
        if notification_id := account.slowest.get(priority):
            yield f"slowest {priority.name}: {max(account.delays[priority]):.1f} s"
            yield from _timeline(notification_id, facts, stage)


def _timeline(notification_id: str, facts: Facts, stage: Stage) -> Iterator[str]:
    yield f"  {notification_id}"
    with psycopg.connect(stage.stack.postgres.url) as link:
        link.execute("SET timezone TO 'UTC'")
        for at, status, reason, detail in link.execute(_EVENTS, [notification_id]):
            name = "-" if status is None else Status(status).label
            yield f"    {at} event    {name} {reason} {detail}".rstrip()
        for at, provider, outcome, code, latency in link.execute(_ATTEMPTS, [notification_id]):
            yield f"    {at} attempt  {provider} {outcome} {code} {latency} ms"
    token = next(
        (one.token for one in facts.accepted if one.notification_id == notification_id), ""
    )
    calls = [call for call in facts.calls if call.token == token]
    for call in calls:
        took = "took it" if call.took else "refused it"
        spent = "-" if call.ended is None else f"{1000 * (call.ended - call.at):.0f} ms"
        told = "answered" if call.answered else "not answered"
        yield f"    {_clock(call.at)} call     {took}, {call.answer}, {told}, {spent}"
    for fault in facts.faults:
        if any(call.at - 30 <= fault.at <= call.at + 10 for call in calls):
            yield f"    {_clock(fault.at)} fault    {fault.target} {fault.deed}"


def _clock(at: float) -> str:
    seconds = at % 86_400
    whole = int(seconds)
    millis = int(1000 * (seconds - whole))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}.{millis:03}"
