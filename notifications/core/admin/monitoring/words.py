"""Numbers and times in words, for the parts of the monitoring pages."""

from __future__ import annotations

import datetime as dt
from typing import Final

_SHORT_FROM: Final = 100_000
_MANY_TIMES: Final = 10
_NONE: Final = "-"
_DAY: Final = dt.timedelta(days=1)


def number(value: float | None, unit: str = "count") -> str:
    """Return a number in words; `unit` is `count`, `share` or `money` (US dollars)."""
    if value is None:
        return _NONE
    match unit:
        case "share":
            return f"{value:.2%}" if 0 < value < 0.1 else f"{value:.1%}"  # noqa: PLR2004 - a tenth
        case "money":
            return f"${value:,.2f}" if value >= 1 or not value else f"${value:.4f}"
        case _:
            return _count(value)


def _count(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= _SHORT_FROM and value >= size:
            return f"{value / size:,.1f} {letter}"
    return f"{value:,.0f}"


def change(value: float | None, before: float | None, unit: str) -> str:
    """Return the change against the time before; empty without a figure of that time."""
    if value is None or before is None or (not before and unit != "share"):
        return ""
    if unit == "share":
        return f"{(value - before) * 100:+.1f} points"
    if value >= _MANY_TIMES * before:
        return f"{value / before:,.0f} times before"
    return f"{(value - before) / before:+.0%} against before"


def instant(at: dt.datetime | None, span: dt.timedelta) -> str:
    """Return an instant, with the date where the range has several days; UTC."""
    if at is None:
        return ""
    return f"{at:%m-%d %H:%M}" if span > _DAY else f"{at:%H:%M}"
