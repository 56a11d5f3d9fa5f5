"""Figures of a bulk job: totals, statuses, progress, rate, and the expected end.

A total counts events of deliveries, each once: a delivery that was sent and read counts in both. A
status counts the deliveries which have the status now; a delivery that a worker is sending counts
in the status before.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from notifications.core.rules.bulk_job import BulkJobState, Expansion, Total
from notifications.features.bulk_jobs.rules import pace

_WHOLE: Final = 100.0
_ALMOST: Final = 99.9
"""Most percent of a job that is not finished: the size of an audience is an estimate."""
_SHORTEST: Final = dt.timedelta(seconds=1)
"""Least time over which a rate is measured."""


FUNNEL: Final = (Total.ACCEPTED, Total.SENT, Total.DELIVERED, Total.READ, Total.CLICKED)

_LEAST_MESSAGES: Final = 100
"""Messages from which the limits count, unless the job gives a number."""

_BAR_WIDTH: Final = 40
"""Characters of the bar."""
_SHOWN_TOTALS: Final = (*FUNNEL, Total.FAILED, Total.BOUNCED, Total.COMPLAINED)


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """The counts of a variant, or of a whole job."""

    totals: Mapping[Total, int] = field(default_factory=dict)
    """Every total; a count without an event is 0."""
    statuses: Mapping[str, int] = field(default_factory=dict)
    """Status -> deliveries; a status without a delivery is left out."""

    def total(self, total: Total) -> int:
        """Return a total; 0 without an event."""
        return self.totals.get(total, 0)


@dataclass(frozen=True, slots=True)
class Plan:
    """The wanted pace of a job."""

    state: BulkJobState
    starts_at: dt.datetime
    started_at: dt.datetime | None = None
    estimate: int | None = None
    """Estimated size of the audience."""
    rate_per_second: float | None = None
    spread_seconds: int | None = None
    ceiling: float | None = None
    """Messages per second that no job exceeds; None: no ceiling."""

    @property
    def rate(self) -> float | None:
        """Wanted messages per second; None: as fast as the lanes deliver."""
        return pace.rate(self, ceiling=self.ceiling)


@dataclass(frozen=True, slots=True)
class Mark:
    """The progress of a job at an earlier time."""

    at: dt.datetime
    examined: int = 0
    accepted: int = 0


def percent(plan: Plan, expansion: Expansion) -> float:
    """Return the examined part of the audience in percent; 100 only for a finished job."""
    if plan.state is BulkJobState.FINISHED:
        return _WHOLE
    return min(round(_WHOLE * _part(plan, expansion), 1), _ALMOST)


def _part(plan: Plan, expansion: Expansion) -> float:
    if plan.estimate:
        return min(expansion.examined / plan.estimate, 1.0)
    return expansion.ids_done / expansion.ids if expansion.ids else 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Recipients and messages per second of the last minute."""

    examined: float = 0.0
    accepted: float = 0.0


def rates(expansion: Expansion, mark: Mark | None, *, now: dt.datetime) -> Rates:
    """Return the rates since an earlier time; 0 without an earlier time."""
    if mark is None or now - mark.at < _SHORTEST:
        return Rates()
    seconds = (now - mark.at).total_seconds()
    return Rates(
        examined=max(expansion.examined - mark.examined, 0) / seconds,
        accepted=max(expansion.accepted - mark.accepted, 0) / seconds,
    )


def end(plan: Plan, expansion: Expansion, speed: Rates, *, now: dt.datetime) -> dt.datetime | None:
    """Return the expected end of the expansion; None if the end is unknown, or for a paused job."""
    remaining = _remaining(plan, expansion)
    if plan.state not in {BulkJobState.SCHEDULED, BulkJobState.RUNNING} or remaining is None:
        return None
    begins = max(now, plan.starts_at, expansion.last_start or now)
    per_second = speed.examined or plan.rate
    if not per_second:
        return None
    try:
        return begins + dt.timedelta(seconds=remaining / per_second)
    except OverflowError:
        return None


def _remaining(plan: Plan, expansion: Expansion) -> float | None:
    """Return the number of unexamined recipients; None if unknown."""
    if plan.estimate:
        return max(plan.estimate - expansion.examined, 0)
    part = _part(plan, expansion)
    return expansion.examined * (1 - part) / part if part else None


def breach_of(
    limits: Mapping[str, Any],
    *,
    sent: int,
    failed: int,
    bounced: int,
    complained: int,
    test_group: int = 0,
) -> str:
    """Return a sentence about the first limit that is passed; empty: no limit is passed.

    Failures are a share of the sent and failed messages, because most failed messages were never
    sent. Bounces and complaints are a share of the sent messages. A test group smaller than
    `minimum` counts only if each message of the group failed.

    Args:
        limits: `failed`, `bounced` and `complained` as shares from 0 to 1, and `minimum`.
        sent: messages that a provider accepted.
        failed: messages that gave up.
        bounced: sent messages that bounced.
        complained: sent messages that the recipient reported as spam.
        test_group: messages of the test group; 0 without a test group.
    """
    counts = {
        "failed": (failed, sent + failed),
        "bounced": (bounced, sent),
        "complained": (complained, sent),
    }
    minimum = limits.get("minimum") or _LEAST_MESSAGES
    for name, (count, whole) in counts.items():
        limit = limits.get(name)
        is_enough = whole >= minimum or 0 < test_group <= whole == count
        if limit is not None and is_enough and count > limit * whole:
            share = f"{count / whole:.1%} of {whole} messages {name}"
            return f"{share}, more than the limit of {limit:.1%}."
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressLine:
    """The progress of a job."""

    name: str
    state: str
    reason: str
    percent: float
    estimate: int | None
    examined: int
    accepted: int
    left_out: Mapping[str, int]
    rate: float
    """Notifications per second that the expansion made."""
    ends_at: dt.datetime | None
    whole: VariantFigures
    variants: Mapping[str, VariantFigures]


def plain_progress(line: ProgressLine) -> str:
    """Return the progress in one line, for a log."""
    sent, failed = line.whole.total(Total.SENT), line.whole.total(Total.FAILED)
    return (
        f"{line.state} {line.percent:.1f} % examined={line.examined} accepted={line.accepted}"
        f" left_out={sum(line.left_out.values())} sent={sent} failed={failed}"
        f" rate={line.rate:.1f}/s eta={_time_text(line.ends_at)}"
    )


def progress_screen(line: ProgressLine) -> str:
    """Return the progress with the funnel by variant, the statuses, and the reasons."""
    return "\n".join(_progress_rows(line))


def _progress_rows(line: ProgressLine) -> Iterator[str]:
    filled = int(_BAR_WIDTH * line.percent / 100)
    yield f"{_printable(line.name)}: {line.state}"
    if line.reason:
        yield _printable(line.reason)
    yield f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}] {line.percent:.1f} %"
    of = "" if line.estimate is None else f" of about {line.estimate:,}"
    yield f"examined {line.examined:,}{of}, accepted {line.accepted:,}"
    yield f"expansion at {line.rate:,.1f}/s, ends {_time_text(line.ends_at)}"
    yield ""
    columns = {"all": line.whole, **line.variants}
    yield " " * 12 + "".join(f"{name[:12]:>14}" for name in columns)
    for total in _SHOWN_TOTALS:
        counts = "".join(f"{each.total(total):>14,}" for each in columns.values())
        yield f"{total.value:<12}{counts}"
    yield from _progress_table("now", line.whole.statuses)
    yield from _progress_table("left out", line.left_out)


def _progress_table(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield ""
        yield f"{title}:"
        for name, count in counts.items():
            yield f"  {name:<22}{count:>14,}"


def _printable(text: str) -> str:
    """Return a text without control characters: a name must not steer the terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _time_text(when: dt.datetime | None) -> str:
    return "unknown" if when is None else f"{when:%Y-%m-%dT%H:%M:%SZ}"
