"""The plot of docs/scaling.md: the greatest age of each hour, by priority; a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from notifications.core.rules.lane import Priority
from tests.benchmarks.day import Hour

_WIDTH: Final = 720
_HEIGHT: Final = 300
_LEFT: Final = 60
_RIGHT: Final = 40
_TOP: Final = 20
_BOTTOM: Final = 36
_DECADES: Final = range(-2, 4)
"""0.01 s to 1,000 s."""
_COLOURS: Final = {
    Priority.P0: "#b3261e",
    Priority.P1: "#b35c00",
    Priority.P2: "#1f5fa8",
    Priority.P3: "#5b5b66",
}
_EVERY: Final = 3
"""Hours between two labels."""


def svg(hours: Sequence[Hour]) -> str:
    """Return the plot as the text of an SVG file."""
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        "<title>Greatest age of each hour, by priority</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *_grid(len(hours)),
        *(line for priority in Priority for line in _line(hours, priority)),
        "</svg>\n",
    ])


def _grid(count: int) -> Iterator[str]:
    for decade in _DECADES:
        y = _y(10.0**decade)
        yield f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="#d8d8dd"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**decade:g} s</text>'
    for hour in range(0, count, _EVERY):
        yield (
            f'<text x="{_x(hour, count):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">'
            f"{hour:02}:00</text>"
        )


def _line(hours: Sequence[Hour], priority: Priority) -> Iterator[str]:
    points = [
        f"{_x(number, len(hours)):.1f},{_y(hour.ages[priority]):.1f}"
        for number, hour in enumerate(hours)
    ]
    colour = _COLOURS[priority]
    # P2 and P3 are equal in most hours: a dashed line over the other shows both.
    dashes = ' stroke-dasharray="6 4"' if priority is Priority.P3 else ""
    yield (
        f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}"'
        f' stroke-width="2"{dashes}/>'
    )
    place = _TOP + 14 * priority
    yield (
        f'<text x="{_WIDTH - _RIGHT + 8}" y="{place + 4}" fill="{colour}">{priority.name}</text>'
    )


def _x(hour: int, count: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * hour / (count - 1)


def _y(seconds: float) -> float:
    lowest, highest = _DECADES.start, _DECADES.stop - 1
    share = (math.log10(seconds) - lowest) / (highest - lowest)
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share
