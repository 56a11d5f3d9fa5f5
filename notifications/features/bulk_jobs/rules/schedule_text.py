"""The schedule of a bulk job in words, as a form shows the schedule before the job is sent.

    Starts on Monday 09:00 on each recipient's clock. About 500,000 an hour for 10 h, ends about
    19:00.

All instants are shown in UTC. An estimated size has no more than two significant digits in a rate.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from notifications.features.bulk_jobs.rules import pace

_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_LONGEST: Final = 10**13
"""Seconds that a duration shows at most: a draft can have a rate near 0."""
_EXACT_BELOW: Final = 100
"""Rates below this number are shown as given."""
_NAMED_DAYS: Final = dt.timedelta(days=6)
"""A day further away has a date beside its name."""
_ZONES: Final = "; the first clocks of the world show the time 14 h before UTC, the last 12 h after"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Times and rate of a bulk job, as a request gives them."""

    starts_at: dt.datetime | None = None
    """Aware; None: now, or the local time."""
    started_at: dt.datetime | None = None
    """Aware; None: the job has not started, or the job follows the local time."""
    send_at_local: dt.datetime | dt.time | None = None
    """A naive wall clock time; a time without a date is the next such time of each clock."""
    rate_per_second: float | None = None
    """Messages a second; None: no limit of the job."""
    spread_seconds: int | None = None
    """Time over which the messages are spread evenly."""
    ceiling: float | None = None
    """Messages a second that no job exceeds; None: no ceiling."""
    test_group_size: int = 0
    """Recipients of the test group; 0: no test group."""
    test_group_seconds: int = 0
    """Wait after the test group, in seconds."""


def sentences(schedule: Schedule, *, count: int | None, now: dt.datetime) -> str:
    """Return the start, the test group, the rate and the end as sentences.

    A job that has started has no end here: its progress tells the end.

    Args:
        schedule: times and rate.
        count: messages to send; None if unknown.
        now: the present; a start before `now` is a start at once.
    """
    said = [_start(schedule, now=now)]
    if schedule.test_group_size:
        said.append(test_group(schedule))
    if not is_limited(schedule, count=count) or schedule.ceiling is None:
        return " ".join([*said, _pace(schedule, count=count, now=now)])
    limited = replace(schedule, rate_per_second=schedule.ceiling, spread_seconds=None)
    said.append(_pace(limited, count=count, now=now))
    said.append(f"No bulk job of this installation is faster than {rate(schedule.ceiling)}.")
    return " ".join(said)


def test_group(schedule: Schedule) -> str:
    """Return the test group and the wait of the other recipients as a sentence."""
    size = schedule.test_group_size
    first = "The first recipient is" if size == 1 else f"The first {size:,} recipients are"
    return f"{first} a test group; the others follow {duration(schedule.test_group_seconds)} later."


def is_limited(schedule: Schedule, *, count: int | None) -> bool:
    """Return True if the ceiling makes a job for `count` recipients slower than its request."""
    wanted = _Wanted(schedule.rate_per_second, schedule.spread_seconds, count)
    return pace.is_limited(wanted, ceiling=schedule.ceiling)


class _Wanted(NamedTuple):
    """The pace of a request, for an audience of `estimate` recipients."""

    rate_per_second: float | None
    spread_seconds: int | None
    estimate: int | None


def rate(per_second: float) -> str:
    """Return a rate in a readable unit: `30 a minute`, `about 500,000 an hour`."""
    if per_second * _MINUTE < 1:
        return f"{_round(per_second * _HOUR)} an hour"
    if per_second * _HOUR < _EXACT_BELOW * _MINUTE:
        return f"{_round(per_second * _MINUTE)} a minute"
    return f"about {_round(per_second * _HOUR)} an hour"


def duration(seconds: float) -> str:
    """Return a duration with at most two units: `10 h`, `2 days 3 h`, `40 min`, `20 s`."""
    whole = max(0, round(min(seconds, _LONGEST)))
    for size, (large, small), step in (
        (_DAY, ("day", "h"), _HOUR),
        (_HOUR, ("h", "min"), _MINUTE),
        (_MINUTE, ("min", "s"), 1),
    ):
        if whole >= size:
            count, rest = divmod(round(whole / step) * step, size)
            unit = f"{large}s" if large == "day" and count > 1 else large
            return f"{count} {unit}" + (f" {rest // step} {small}" if rest >= step else "")
    return f"{whole} s"


def instant(at: dt.datetime, *, now: dt.datetime) -> str:
    """Return an instant in UTC: `Monday 09:00 UTC`, with the date if the day is a week away."""
    return f"{_wall(at.astimezone(dt.UTC), now=now.astimezone(dt.UTC))} UTC"


def wall(at: dt.datetime, *, now: dt.datetime) -> str:
    """Return a wall clock time: `Monday 09:00`, with the date if the day is a week away."""
    return _wall(at, now=now.astimezone(dt.UTC).replace(tzinfo=None))


def _start(schedule: Schedule, *, now: dt.datetime) -> str:
    if isinstance(schedule.send_at_local, dt.time):
        return f"Starts at the next {_clock(schedule.send_at_local)} on each recipient's clock."
    if schedule.send_at_local is not None:
        at = wall(schedule.send_at_local, now=now)
        return f"Starts on {at} on each recipient's clock{_ZONES}."
    if schedule.started_at is not None:
        return f"Started on {instant(schedule.started_at, now=now)}."
    if schedule.starts_at is None or schedule.starts_at <= now:
        return "Starts now."
    return f"Starts on {instant(schedule.starts_at, now=now)}."


def _pace(schedule: Schedule, *, count: int | None, now: dt.datetime) -> str:
    if schedule.spread_seconds:
        seconds = float(schedule.spread_seconds)
        start = "Spread evenly over"
        if count is not None:
            start = f"{_capital(rate(count / seconds))} for"
        end = "" if schedule.started_at else f", {_end(schedule, seconds, now)}"
        return f"{start} {duration(seconds)}{end}."
    if schedule.rate_per_second:
        speed = _capital(rate(schedule.rate_per_second))
        if not count or schedule.started_at:
            return f"{speed} at most."
        seconds = count / schedule.rate_per_second
        return f"{speed} for {duration(seconds)}, {_end(schedule, seconds, now)}."
    return "Without a rate of its own: as fast as the providers of the lane take messages."


def _calculated_end(schedule: Schedule, seconds: float, now: dt.datetime) -> str:
    if schedule.test_group_size:
        seconds += schedule.test_group_seconds
    if (local := schedule.send_at_local) is not None:
        begin = dt.datetime.combine(now, local) if isinstance(local, dt.time) else local
        end = begin + dt.timedelta(seconds=seconds)
        days = (end.date() - begin.date()).days
        later = f", {days} day{'s' if days > 1 else ''} later" if days else ""
        return f"ends about {_clock(end)} on the same clocks{later}"
    start = max(now, schedule.starts_at or now).astimezone(dt.UTC)
    end = start + dt.timedelta(seconds=seconds)
    shown = _clock(end) if end.date() == start.date() else _wall(end, now=now.astimezone(dt.UTC))
    return f"ends about {shown} UTC"


def _end(schedule: Schedule, seconds: float, now: dt.datetime) -> str:
    try:
        return _calculated_end(schedule, seconds, now)
    except OverflowError:  # of a draft with numbers that `rules.request` refuses
        return "ends after the year 9999"


def _wall(at: dt.datetime, *, now: dt.datetime) -> str:
    if dt.timedelta(0) <= at - now < _NAMED_DAYS:
        return f"{at:%A} {_clock(at)}"
    return f"{at:%A} {at.day} {at:%B %Y} {_clock(at)}"


def _clock(at: dt.datetime | dt.time) -> str:
    return f"{at:%H:%M}"


def _round(number: float) -> str:
    """Return a number with two significant digits above a hundred, and one decimal below ten."""
    if number < _EXACT_BELOW:
        return f"{number:.1f}".removesuffix(".0")
    digits = len(str(int(number))) - 2
    return f"{int(round(number, -digits)):,}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
