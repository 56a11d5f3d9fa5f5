"""Text of the progress of a bulk job for a terminal and for a log."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from notifications.core.rules.bulk_job import Total
from notifications.features.bulk_jobs.rules.figures import FUNNEL, VariantFigures

_WIDTH: Final = 40
"""Characters of the bar."""
_SHOWN: Final = (*FUNNEL, Total.FAILED, Total.BOUNCED, Total.COMPLAINED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
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


def plain(line: Line) -> str:
    """Return the progress in one line, for a log."""
    sent, failed = line.whole.total(Total.SENT), line.whole.total(Total.FAILED)
    return (
        f"{line.state} {line.percent:.1f} % examined={line.examined} accepted={line.accepted}"
        f" left_out={sum(line.left_out.values())} sent={sent} failed={failed}"
        f" rate={line.rate:.1f}/s eta={_time(line.ends_at)}"
    )


def screen(line: Line) -> str:
    """Return the progress with the funnel by variant, the statuses, and the reasons."""
    return "\n".join(_rows(line))


def _rows(line: Line) -> Iterator[str]:
    filled = int(_WIDTH * line.percent / 100)
    yield f"{_printable(line.name)}: {line.state}"
    if line.reason:
        yield _printable(line.reason)
    yield f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {line.percent:.1f} %"
    of = "" if line.estimate is None else f" of about {line.estimate:,}"
    yield f"examined {line.examined:,}{of}, accepted {line.accepted:,}"
    yield f"expansion at {line.rate:,.1f}/s, ends {_time(line.ends_at)}"
    yield ""
    columns = {"all": line.whole, **line.variants}
    yield " " * 12 + "".join(f"{name[:12]:>14}" for name in columns)
    for total in _SHOWN:
        counts = "".join(f"{each.total(total):>14,}" for each in columns.values())
        yield f"{total.value:<12}{counts}"
    yield from _table("now", line.whole.statuses)
    yield from _table("left out", line.left_out)


def _table(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    if counts:
        yield ""
        yield f"{title}:"
        for name, count in counts.items():
            yield f"  {name:<22}{count:>14,}"


def _printable(text: str) -> str:
    """Return a text without control characters: a name must not steer the terminal."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def _time(when: dt.datetime | None) -> str:
    return "unknown" if when is None else f"{when:%Y-%m-%dT%H:%M:%SZ}"
