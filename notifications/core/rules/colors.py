"""Contrast of colours, by the definitions of WCAG 2.2 ("relative luminance", "contrast ratio")."""

from __future__ import annotations

import re
from typing import Final

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"
LEAST_RATIO: Final = 4.5
"""Ratio of text and background that WCAG 2.2 requires at least (1.4.3, level AA)."""
_FORM: Final = re.compile(r"#[0-9a-f]{6}")
_SHADES: Final = 256
"""Number of shades between a colour and black among which `darker` chooses."""


def is_color(text: str) -> bool:
    """Return True for `#rrggbb` in lower case."""
    return _FORM.fullmatch(text) is not None


def ratio(first: str, second: str) -> float:
    """Return the contrast ratio of two colours of the form `#rrggbb`, from 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def text_on(background: str) -> str:
    """Return black or white, whichever is easier to read: the ratio is 4.58 at least."""
    return max(WHITE, BLACK, key=lambda text: ratio(text, background))


def darker(color: str) -> str:
    """Return the lightest shade of a colour that has LEAST_RATIO on white."""
    return _first_shade(color, BLACK, on=WHITE)


def lighter(color: str, *, on: str) -> str:
    """Return the darkest tint of a colour that has LEAST_RATIO on a dark background."""
    return _first_shade(color, WHITE, on=on)


def _first_shade(color: str, end: str, *, on: str) -> str:
    shades = (_mix(color, end, share / _SHADES) for share in range(_SHADES))
    return next((shade for shade in shades if ratio(shade, on) >= LEAST_RATIO), end)


def _mix(color: str, end: str, share: float) -> str:
    pairs = zip(_channels(color), _channels(end), strict=True)
    mixed = (round(begin + (last - begin) * share) for begin, last in pairs)
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _channels(color: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red, green, blue


def _luminance(color: str) -> float:
    red, green, blue = (_linear(value / 255) for value in _channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4  # noqa: PLR2004 - WCAG's constants
