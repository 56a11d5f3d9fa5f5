"""SMS pumping: raise alerts about refused SMS, learn the usual traffic, and end holds.

    each run       refusals of the last two intervals -> alerts by ceiling and country
    each run       limits or overrides have changed -> held SMS are due, and count again
    each interval  counts of prefixes (10 minutes) and countries (an hour) -> traffic of the day

A prefix or country with a refusal in an interval is not learned for the interval, so an attack does
not raise a ceiling. An alert ends when the last two intervals have no refusal of its subject.

Safe to run twice (an interval is learned once), late or never: the counts of an interval are kept
for two hours (prefixes) or six hours (countries), and without new traffic the former baselines and
the floors apply. While the state Redis is away, open alerts stay open. A worker can hold an SMS by
the former limits for some seconds (`policy`), so two runs after a change release the held SMS.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from notifications.core.models import Producer
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts, db, id_ranges
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.redis import state
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.sms_pumping import counts, traffic_rows
from notifications.features.sms_pumping import policy as sms_policy
from notifications.features.sms_pumping.counts import Refusals
from notifications.features.sms_pumping.rules import baselines, ceilings
from notifications.features.sms_pumping.rules.ceilings import Ceiling
from notifications.features.sms_pumping.traffic_rows import Counts
from providers.contract import Channel

_KINDS: Final = (AlertKind.SMS_PUMPING, AlertKind.SMS_ADDRESS_CEILING)
_RELEASES: Final = 2
"""Runs after a change that release held SMS."""
_MOST_RELEASED: Final = 5_000
"""Held SMS of a priority and day that a run makes due."""
_MOST_SHOWN: Final = 5
"""Prefixes or producers in the text of an alert."""


class _Learner(NamedTuple):
    """The counts from which a ceiling is learned."""

    ceiling: Ceiling
    name: str
    length: dt.timedelta
    kept: int
    """Past intervals whose counts are kept."""


_LEARNERS: Final = (
    _Learner(Ceiling.PREFIX, counts.PREFIXES, ceilings.PREFIX_INTERVAL, 11),
    _Learner(Ceiling.COUNTRY, counts.COUNTRIES, ceilings.COUNTRY_INTERVAL, 5),
)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise and resolve alerts, learn up to `limit` finished intervals, and end holds."""
    try:
        _alert(now=now)
        released = _end_holds(now)
        learned = sum(_learn(each, now=now, limit=limit) for each in _LEARNERS)
    except state.Away:
        return Swept()
    forgotten = traffic_rows.forget_old(today=now.date()) if learned else 0
    return Swept(released + learned + forgotten)


def _end_holds(now: dt.datetime) -> int:
    """Make held SMS due after a change of the limits or overrides; the claim counts them again."""
    sms_policy.current.forget()
    policy = sms_policy.current()
    times = counts.releases(policy, now=now)
    if times >= _RELEASES:
        return 0
    moved = sum(_release(span) for span in id_ranges.current())
    if moved < _MOST_RELEASED:
        counts.note_releases(policy, times + 1, now=now)
    return moved


def _release(span: Span) -> int:
    parameters = {
        **span,
        "scheduled": Status.SCHEDULED,
        "live": Mode.LIVE,
        "channel": Channel.SMS,
        "priorities": [each for each in Priority if each.is_urgent],
        "reasons": [Reason.SMS_CEILING],
        "grace": rounds.retry_grace(),
        "limit": _MOST_RELEASED,
    }
    return len(db.fetch_in_own_transaction("resume", parameters))


def _number(now: dt.datetime, length: dt.timedelta) -> int:
    """Return the number of the interval of an instant."""
    return int(now.timestamp() // length.total_seconds())


def _alert(*, now: dt.datetime) -> None:
    number = _number(now, ceilings.PREFIX_INTERVAL)
    refused: dict[tuple[AlertKind, str], list[Refusals]] = defaultdict(list)
    for each in counts.refusals([number - 1, number]):
        is_address = each.ceiling is Ceiling.ADDRESS
        kind = AlertKind.SMS_ADDRESS_CEILING if is_address else AlertKind.SMS_PUMPING
        scope = "country" if each.ceiling is Ceiling.PRODUCER_COUNTRY else each.ceiling.value
        refused[kind, f"{scope} {each.country}"].append(each)
    names = dict(Producer.objects.values_list("pk", "name")) if refused else {}
    open_now = {kind: alerts.open_subjects(kind) for kind in _KINDS}
    for (kind, subject), those in refused.items():
        alerts.raise_once(kind, subject, _detail(those, names))
    for kind, subjects in open_now.items():
        for subject in subjects - {each for of, each in refused if of is kind}:
            alerts.resolve(kind, subject)


def _detail(refused: Sequence[Refusals], names: dict[int, str]) -> str:
    total = sum(each.refused for each in refused)
    text = f"{total:,} P0 and P1 SMS were refused in the last 10 to 20 minutes"
    producers = _largest((names.get(each.producer_id, "?"), each.refused) for each in refused)
    prefixes = _largest((f"+{each.prefix}", each.refused) for each in refused if each.prefix)
    text += f"; producers: {producers}"
    return f"{text}; prefixes: {prefixes}" if prefixes else text


def _largest(pairs: Iterable[tuple[str, int]]) -> str:
    sums: dict[str, int] = defaultdict(int)
    for name, count in pairs:
        sums[name] += count
    largest = sorted(sums.items(), key=lambda each: (-each[1], each[0]))
    shown = ", ".join(f"{name} ({count:,})" for name, count in largest[:_MOST_SHOWN])
    rest = len(largest) - _MOST_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _learn(learner: _Learner, *, now: dt.datetime, limit: int) -> int:
    """Learn the finished intervals since the position; returns the number of intervals."""
    current = _number(now, learner.length)
    first = max(traffic_rows.position(learner.ceiling) + 1, current - learner.kept)
    numbers = range(first, min(current, first + limit))
    learned = 0
    for number, counted in zip(
        numbers, counts.counts_of(learner.name, numbers) if numbers else (), strict=True
    ):
        begins = dt.datetime.fromtimestamp(number * learner.length.total_seconds(), dt.UTC)
        refused = _refusals(begins, learner)
        kept = {
            name: count
            for name, count in _by_producer(counted, learner.ceiling).items()
            if count > 0 and name not in refused
        }
        learned += traffic_rows.add(learner.ceiling, kept, interval=number, day=begins.date())
    return learned


def _by_producer(counted: dict[str, int], ceiling: Ceiling) -> Counts:
    """Return the counts by producer and name; small counts of prefixes are left out."""
    if ceiling is Ceiling.PREFIX:
        return {
            (baselines.EVERYBODY, name): count
            for name, count in counted.items()
            if count >= baselines.LEAST_PEAK
        }
    found = {}
    for field, count in counted.items():
        producer_id, separator, name = field.rpartition(":")
        found[int(producer_id) if separator else baselines.EVERYBODY, name] = count
    return found


def _refusals(begins: dt.datetime, learner: _Learner) -> set[tuple[int, str]]:
    """Return the producers and names refused in the interval."""
    first = _number(begins, ceilings.PREFIX_INTERVAL)
    numbers = range(first, first + learner.length // ceilings.PREFIX_INTERVAL)
    found: set[tuple[int, str]] = set()
    for each in counts.refusals(numbers):
        if learner.ceiling is Ceiling.PREFIX:
            if each.ceiling is Ceiling.PREFIX:
                found.add((baselines.EVERYBODY, each.prefix))
        elif each.ceiling in {Ceiling.COUNTRY, Ceiling.PRODUCER_COUNTRY}:
            found |= {
                (baselines.EVERYBODY, each.country),
                (each.producer_id, each.country),
            }
    return found
