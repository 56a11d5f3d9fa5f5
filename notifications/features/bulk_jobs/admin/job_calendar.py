"""The calendar of bulk jobs: a month or a week, with the first jobs of each day."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState
from notifications.features.bulk_jobs import calendar_rows
from notifications.features.bulk_jobs.calendar_rows import CalendarDay, CalendarJob

_SHOWN: Final = {"month": 4, "week": 30}
"""View -> jobs of a day."""
_OPEN: Final = (BulkJobState.RUNNING, BulkJobState.PAUSED)
_MOST_OPEN: Final = 10
"""Running and paused jobs above the calendar."""
_YEARS: Final = range(1970, 2201)
_DAY: Final = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A day of the page."""

    day: dt.date
    title: str
    """Such as `Tue 24`; with the month at a day of another month than the shown one."""
    jobs: Sequence[CalendarJob]
    has_more: bool
    is_today: bool
    is_outside: bool
    """True: the day belongs to another month than the shown one."""


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:  # noqa: ANN401 - the ModelAdmin of another module
    """Show a month or a week: `?view=week&date=2026-11-24`.

    Raises:
        BadRequest: the view or the date is unknown.
    """
    now = clock.now()
    view = request.GET.get("view") or "month"
    if view not in _SHOWN:
        raise BadRequest(f"The calendar has the views {' and '.join(_SHOWN)}, not {view[:20]!r}.")
    date = _date(request.GET.get("date") or now.date().isoformat())
    days = _days(date, view)
    found = calendar_rows.days(days, limit=_SHOWN[view])
    is_open = BulkJob.objects.filter(state__in=_OPEN).order_by("state", "starts_at")
    open_jobs = list(is_open.only("name", "state")[: _MOST_OPEN + 1])
    first, last = (days[0], days[-1]) if view == "week" else (date.replace(day=1), _last(date))
    context = {
        "view": view,
        "date": date.isoformat(),
        "today": now.date().isoformat(),
        "before": _there(first - _DAY),
        "after": _there(last + _DAY),
        "heading": _heading(first, last, view),
        "cells": [_cell(day, found, date=date, view=view, today=now.date()) for day in days],
        "is_empty": not found,
        "open": open_jobs[:_MOST_OPEN],
        "has_more_open": len(open_jobs) > _MOST_OPEN,
    }
    title = "Calendar of bulk jobs"
    return base.page(model_admin, request, "bulk_jobs/calendar.html", title=title, context=context)


def _date(text: str) -> dt.date:
    """Return a date of the address.

    Raises:
        BadRequest: the text is no date of the shown years.
    """
    try:
        date = dt.date.fromisoformat(text)
    except ValueError:
        date = None
    if date is None or date.year not in _YEARS:
        raise BadRequest(f"{text[:20]!r} is no date of the calendar: write it as 2026-11-24.")
    return date


def _there(date: dt.date) -> str:
    """Return a date for a link; empty outside of the shown years."""
    return date.isoformat() if date.year in _YEARS else ""


def _days(date: dt.date, view: str) -> list[dt.date]:
    """Return the whole weeks, from Monday, of a month; or the week of a date."""
    if view == "week":
        monday = date - date.weekday() * _DAY
        return [monday + number * _DAY for number in range(7)]
    weeks = calendar.Calendar().monthdatescalendar(date.year, date.month)
    return [day for week in weeks for day in week]


def _last(date: dt.date) -> dt.date:
    return date.replace(day=calendar.monthrange(date.year, date.month)[1])


def _heading(first: dt.date, last: dt.date, view: str) -> str:
    if view == "month":
        return f"{first:%B %Y}"
    return f"{first.day} {first:%B} to {last.day} {last:%B %Y}"


def _cell(
    day: dt.date,
    found: Mapping[dt.date, CalendarDay],
    *,
    date: dt.date,
    view: str,
    today: dt.date,
) -> Cell:
    there = found.get(day, CalendarDay((), has_more=False))
    is_outside = view == "month" and day.month != date.month
    return Cell(
        day=day,
        title=f"{day:%a} {day.day}" + (f" {day:%b}" if is_outside or view == "week" else ""),
        jobs=there.jobs,
        has_more=there.has_more,
        is_today=day == today,
        is_outside=is_outside,
    )
