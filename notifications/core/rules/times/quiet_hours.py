"""Quiet hours of a recipient: windows without messages, and the time of the next release.

    mon  22:00 ─────────┐ 07:00 tue       a window belongs to the day on which it begins
    tue  ...            22:00 ── 07:00    and may end on the next

Wall times are in the recipient's timezone. A window begins at the first instant at which the clock
shows (or has skipped) the start, and ends at the last instant at which the clock shows the end, so
a repeated hour is quiet both times. Windows that touch or overlap form a single stretch.

For any zone and instant, a release is the first instant outside every window, and a later hold is
never released earlier. The message's time to live continues during a hold. Windows that leave no
minute of the week are rejected on input; the recipient can switch the channel off instead.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import from_json

from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.times import local_time
from providers.contract import Channel

MAX_WINDOWS: Final = 50
"""Of one recipient."""
LOOK_AHEAD: Final = dt.timedelta(days=8)
"""Longest look into the future; a longer quiet time is checked again at that point."""
_DAY: Final = dt.timedelta(days=1)
_MINUTE: Final = dt.timedelta(minutes=1)
_WEEK_MINUTES: Final = 7 * 24 * 60
_TIME_PATTERN: Final = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"
_SOME_MONDAY: Final = dt.date(2024, 1, 1)


class Weekday(StrEnum):
    """A day of the week, in ISO's order."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


WEEKDAYS: Final = tuple(Weekday)
"""By `date.weekday()`."""


def _time_of_day(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(_TIME_PATTERN, value):
        return dt.time.fromisoformat(value)
    if isinstance(value, dt.time):
        return value
    raise ValueError("must be a time of day like 22:00; midnight is 00:00")


def _written_time(value: dt.time) -> str:
    return f"{value:%H:%M}"


def _weekday(value: object) -> object:
    if isinstance(value, str) and value in WEEKDAYS:
        return Weekday(value)
    raise ValueError(f"must be one of {', '.join(WEEKDAYS)}")


TimeOfDay = Annotated[
    dt.time,
    BeforeValidator(_time_of_day),
    PlainSerializer(_written_time, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _TIME_PATTERN, "examples": ["22:00"]}),
]
_Day = Annotated[
    Weekday,
    BeforeValidator(_weekday),
    WithJsonSchema({"type": "string", "enum": [str(day) for day in WEEKDAYS]}),
]
_OnChannel = Annotated[AskedChannel, PlainSerializer(lambda channel: channel.label)]


class Window(BaseModel):
    """A period of quiet hours, on the given days and channels."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    days: Annotated[tuple[_Day, ...], Field(max_length=len(WEEKDAYS))] = ()
    """The days on which it begins; none named: every day."""
    channels: Annotated[tuple[_OnChannel, ...], Field(max_length=len(Channel))] = ()
    """The channels that it quietens; none named: all."""
    start: TimeOfDay
    """In the person's local time."""
    end: TimeOfDay
    """The same; not after `start`: on the next day. Equal to it: a day later."""

    def is_on(self, day: dt.date, channel: Channel) -> bool:
        """Return True if the window begins on the day, for the channel."""
        begins = not self.days or WEEKDAYS[day.weekday()] in self.days
        return begins and (not self.channels or channel in self.channels)

    def walls(self, day: dt.date) -> tuple[dt.datetime, dt.datetime]:
        """Return start and end as naive local times for a window that begins on the day."""
        ends_on = day if self.start < self.end else day + _DAY
        return dt.datetime.combine(day, self.start), dt.datetime.combine(ends_on, self.end)


Windows = tuple[Window, ...]


def check(windows: Sequence[Window]) -> None:
    """Reject windows without a free minute.

    Raises:
        ValueError: the named channel would be quiet all week.
    """
    for channel in Channel:
        quiet: set[int] = set()
        for number in range(len(WEEKDAYS)):
            day = _SOME_MONDAY + number * _DAY
            for window in windows:
                if window.is_on(day, channel):
                    begin, end = window.walls(day)
                    first = (begin - dt.datetime.combine(_SOME_MONDAY, dt.time())) // _MINUTE
                    quiet.update(range(first, first + (end - begin) // _MINUTE))
        if len({minute % _WEEK_MINUTES for minute in quiet}) == _WEEK_MINUTES:
            raise ValueError(f"leave no minute of the week for {channel.label}: switch it off")


def to_json(windows: Iterable[Window]) -> list[dict[str, Any]]:
    """Return windows as the JSON of a row."""
    return [window.model_dump(mode="json") for window in windows]


@functools.lru_cache(maxsize=4096)
def parse_stored(kept: str) -> Windows:
    """Read windows from a row's JSON text.

    Unknown fields of a newer release, and unreadable windows, are ignored.
    """
    try:
        found = from_json(kept)
    except ValueError:
        return ()
    windows: list[Window] = []
    for each in found if isinstance(found, list) else ():
        with contextlib.suppress(ValidationError):
            windows.append(Window.model_validate(each, extra="ignore"))
    return tuple(windows)


def quiet_until(
    windows: Windows, *, channel: Channel, zone: str, now: dt.datetime
) -> dt.datetime | None:
    """Return the end of the quiet stretch at `now` (aware); None outside quiet hours."""
    horizon = now + LOOK_AHEAD
    end = now
    while end < horizon:
        further = _end_after(windows, channel, zone, end)
        if further is None:
            break
        end = further
    return end if end > now else None


def _end_after(
    windows: Windows, channel: Channel, zone: str, now: dt.datetime
) -> dt.datetime | None:
    """Return the latest end of the windows at `now`."""
    today = now.astimezone(local_time.zone(zone)).date()
    spans = _spans(windows, channel, zone, today)
    return max((end for begin, end in spans if begin <= now < end), default=None)


@functools.lru_cache(maxsize=8192)
def _spans(
    windows: Windows, channel: Channel, zone: str, today: dt.date
) -> tuple[tuple[dt.datetime, dt.datetime], ...]:
    """Return the instants of the windows with possible instants of `today`.

    The next day counts too: in a zone that repeats the hour after midnight, windows begin today.
    """
    place = local_time.zone(zone)
    found = []
    for day in (today - _DAY, today, today + _DAY):
        for window in windows:
            if window.is_on(day, channel):
                begin, end = window.walls(day)
                found.append((
                    local_time.first(begin, zone=place),
                    local_time.last(end, zone=place),
                ))
    return tuple(found)
