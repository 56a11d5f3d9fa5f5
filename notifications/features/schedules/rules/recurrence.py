"""Recurrence: an RFC 5545 rule, and the local times at which it occurs.

The rule runs on the wall clock of a zone, so 09:00 stays 09:00 when the clocks change (`local_time`
resolves skipped and repeated times).

dateutil would look for the next `30 February` until the year 9999, so a rule is accepted only if it
surely occurs soon: known parts, nothing under a minute, INTERVAL only beside finer parts, and a
date that exists. If a rule began years ago, counting starts near the asked instant.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from dateutil.rrule import rrulestr

from notifications.core.rules.schedule_limits import MAX_RULE_LENGTH
from notifications.core.rules.times import local_time

MAX_COUNT: Final = 1_000
"""A rule with COUNT is counted from its beginning each time."""
_MAX_INTERVAL: Final = 1_000
_FREQUENCIES: Final = ("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_SHAPES: Final[Mapping[str, str]] = MappingProxyType({
    "FREQ": "|".join(_FREQUENCIES),
    "INTERVAL": r"[1-9]\d{0,3}",
    "COUNT": r"[1-9]\d{0,3}",
    "BYMONTH": r"\d{1,2}(,\d{1,2}){0,11}",
    "BYMONTHDAY": r"-?\d{1,2}(,-?\d{1,2}){0,30}",
    "BYDAY": r"([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)(,([+-]?[1-5])?(MO|TU|WE|TH|FR|SA|SU)){0,9}",
    "BYHOUR": r"\d{1,2}(,\d{1,2}){0,23}",
    "BYMINUTE": r"\d{1,2}(,\d{1,2}){0,59}",
    "BYSETPOS": r"-?[1-4](,-?[1-4]){0,3}",
    "WKST": "MO|TU|WE|TH|FR|SA|SU",
})
"""Part -> its form. The schedule's `ends_at` replaces UNTIL."""
_RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType({
    "BYMONTH": (1, 12),
    "BYMONTHDAY": (1, 31),
    "BYHOUR": (0, 23),
    "BYMINUTE": (0, 59),
})
_LIMITS: Final[Mapping[str, str]] = MappingProxyType({
    "BYMINUTE": "MINUTELY",
    "BYHOUR": "HOURLY",
    "BYDAY": "DAILY",
    "BYMONTHDAY": "DAILY",
    "BYMONTH": "MONTHLY",
})
"""Part -> the finest frequency of which it removes occurrences instead of adding some."""
_ALWAYS_A_DATE: Final = 28
_LONGEST_MONTH: Final = {2: 29, **dict.fromkeys((4, 6, 9, 11), 30)}
_STEPS: Final[Mapping[str, dt.timedelta]] = MappingProxyType({
    "MINUTELY": dt.timedelta(minutes=1),
    "HOURLY": dt.timedelta(hours=1),
    "DAILY": dt.timedelta(days=1),
    "WEEKLY": dt.timedelta(weeks=1),
})
"""Frequencies with steps of one length on the wall clock."""
_YEAR_MONTHS: Final = 12
_MARGIN: Final = dt.timedelta(days=3)
"""No zone's clocks are this far from UTC's."""


class BadRule(ValueError):
    """The rule is refused; the message says why and how to mend it."""


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """A checked rule."""

    parts: Mapping[str, str]

    @property
    def text(self) -> str:
        """Return the rule in RFC 5545 syntax."""
        return ";".join(f"{name}={value}" for name, value in self.parts.items())


def parse(text: str) -> RecurrenceRule:
    """Check a rule like `FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=0`.

    Raises:
        BadRule: the rule is refused.
    """
    if len(text) > MAX_RULE_LENGTH:
        raise BadRule(f"a rule may have {MAX_RULE_LENGTH} characters")
    parts: dict[str, str] = {}
    for part in text.upper().removeprefix("RRULE:").split(";"):
        name, _, value = part.partition("=")
        _check_part(name, value)
        if name in parts:
            raise BadRule(f"{name} stands there twice")
        parts[name] = value
    _check_together(parts)
    return RecurrenceRule(parts)


def occurrences(
    rule: RecurrenceRule, *, begins: dt.datetime, zone: dt.tzinfo, after: dt.datetime
) -> Iterator[tuple[dt.datetime, dt.datetime]]:
    """Yield the local time and the UTC instant of each occurrence after an instant, without end.

    `begins` gives the time of day if the rule does not; `zone` is that of the wall clock.
    """
    start = begins.astimezone(zone).replace(tzinfo=None, microsecond=0, fold=0)
    near = max(after, begins).astimezone(dt.UTC).replace(tzinfo=None) - _MARGIN
    last = after
    for local in rrulestr(rule.text, dtstart=_near(rule, start, near)).xafter(near):
        instant = local_time.first(local, zone=zone)
        # Several local times of one gap are one instant.
        if instant > last and instant >= begins.replace(microsecond=0):
            last = instant
            yield local, instant


def _near(rule: RecurrenceRule, start: dt.datetime, near: dt.datetime) -> dt.datetime:
    """Return a beginning shortly before the asked instant from which the same times recur."""
    if "COUNT" in rule.parts or near <= start:
        return start
    interval = int(rule.parts.get("INTERVAL", "1"))
    step = _STEPS.get(rule.parts["FREQ"])
    if step is not None:
        stride = step * interval
        return start + (near - start) // stride * stride
    months = interval * (_YEAR_MONTHS if rule.parts["FREQ"] == "YEARLY" else 1)
    passed = (near.year - start.year) * _YEAR_MONTHS + near.month - start.month
    # One stride less: in the asked month it may be the later day.
    return _months_later(start, (passed // months - 1) * months, stride=months)


def _months_later(start: dt.datetime, months: int, *, stride: int) -> dt.datetime:
    """Return the last time until then at which its day exists, stride by stride."""
    for later in range(months, 0, -stride):
        year, month = divmod(start.year * _YEAR_MONTHS + start.month - 1 + later, _YEAR_MONTHS)
        with contextlib.suppress(ValueError):
            return start.replace(year=year, month=month + 1)
    return start


def _check_part(name: str, value: str) -> None:
    """Check a single part.

    Raises:
        BadRule: the part or the value is unknown.
    """
    if name not in _SHAPES:
        known = ", ".join(_SHAPES)
        raise BadRule(f"{name[:20] or 'an empty part'} is not taken; a rule may have {known}")
    if not re.fullmatch(_SHAPES[name], value, re.ASCII):
        hint = "; nothing recurs faster than each minute" if name == "FREQ" else ""
        raise BadRule(f"{name} does not read {value[:40]!r}{hint}")
    if name in _RANGES:
        low, high = _RANGES[name]
        if any(not low <= abs(int(each)) <= high for each in value.split(",")):
            raise BadRule(f"{name} is between {low} and {high}")


def _check_together(parts: Mapping[str, str]) -> None:
    """Check the rule for an occurrence soon.

    Raises:
        BadRule: the rule may never occur.
    """
    if "FREQ" not in parts:
        raise BadRule("FREQ is missing")
    if int(parts.get("COUNT", "1")) > MAX_COUNT:
        raise BadRule(f"COUNT is {MAX_COUNT} at most; leave it out and use ends_at")
    frequency = _FREQUENCIES.index(parts["FREQ"])
    interval = int(parts.get("INTERVAL", "1"))
    if interval > _MAX_INTERVAL:
        raise BadRule(f"INTERVAL is {_MAX_INTERVAL} at most")
    for name, finest in _LIMITS.items():
        if interval > 1 and name in parts and frequency <= _FREQUENCIES.index(finest):
            raise BadRule(f"INTERVAL and {name} may never meet in a {parts['FREQ']} rule")
    _check_weekdays(parts)
    _check_dates(parts, every=interval)


def _check_weekdays(parts: Mapping[str, str]) -> None:
    """Check first and last weekdays.

    Raises:
        BadRule: there is no weekday to choose from.
    """
    numbered = bool(re.search(r"\d", parts.get("BYDAY", "")))
    if numbered and parts["FREQ"] not in {"MONTHLY", "YEARLY"}:
        raise BadRule("only a MONTHLY or YEARLY rule has a first or last weekday")
    if numbered and "BYMONTHDAY" in parts:
        raise BadRule("a numbered weekday and BYMONTHDAY may never meet; leave one of them out")
    if "BYSETPOS" in parts and (
        numbered or parts["FREQ"] != "MONTHLY" or "BYDAY" not in parts or "BYMONTHDAY" in parts
    ):
        raise BadRule("BYSETPOS picks among a month's weekdays, like BYDAY=MO,TU,WE,TH,FR")


def _check_dates(parts: Mapping[str, str], *, every: int) -> None:
    """Check that the date exists in some year.

    Raises:
        BadRule: the date may never occur.
    """
    if "BYMONTHDAY" not in parts:
        return
    months = [int(month) for month in parts.get("BYMONTH", "").split(",") if month]
    longest = max((_LONGEST_MONTH.get(month, 31) for month in months), default=31)
    if every > 1:
        longest = _ALWAYS_A_DATE
    days = [abs(int(day)) for day in parts["BYMONTHDAY"].split(",")]
    if min(days) > longest:
        raise BadRule(f"BYMONTHDAY has no day that surely comes; the {longest}th would")
