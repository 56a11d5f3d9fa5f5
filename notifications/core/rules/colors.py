"""Contrast of colours, by the definitions of WCAG 2.2 ("relative luminance", "contrast ratio")."""

from __future__ import annotations

import re
from typing import Final

WHITE: Final = "#ffffff"
BLACK: Final = "#000000"
LEAST_RATIO: Final = 4.5
"""Ratio of text and background that WCAG 2.2 requires at least (1.4.3, level AA)."""
_FORM: Final = re.compile(r"#[0-9a-f]{6}")
_NAMES: Final = {
    "black": BLACK,
    "white": WHITE,
    "silver": "#c0c0c0",
    "gray": "#808080",
    "grey": "#808080",
    "lightgray": "#d3d3d3",
    "lightgrey": "#d3d3d3",
    "darkgray": "#a9a9a9",
    "darkgrey": "#a9a9a9",
    "red": "#ff0000",
    "maroon": "#800000",
    "orange": "#ffa500",
    "yellow": "#ffff00",
    "olive": "#808000",
    "lime": "#00ff00",
    "green": "#008000",
    "aqua": "#00ffff",
    "teal": "#008080",
    "blue": "#0000ff",
    "navy": "#000080",
    "fuchsia": "#ff00ff",
    "purple": "#800080",
}
"""The most frequent names of CSS Color Module Level 4, 6.1."""
_SHORT_FORM: Final = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])")
_RGB_FORM: Final = re.compile(r"rgb\(\s*([0-9]{1,3})[\s,]+([0-9]{1,3})[\s,]+([0-9]{1,3})\s*\)")
_MOST: Final = 255
"""Of a channel of a colour."""
_SHADES: Final = 256
"""Number of shades between a colour and black among which `darker` chooses."""


def is_color(text: str) -> bool:
    """Return True for `#rrggbb` in lower case."""
    return _FORM.fullmatch(text) is not None


def read(css: str) -> str:
    """Return a colour of CSS as `#rrggbb`; empty for a form that is not read, such as `hsl()`.

    Read are `#rgb`, `#rrggbb`, `rgb(0, 0, 0)` and frequent names.
    """
    text = css.strip().lower()
    if is_color(text):
        return text
    if short := _SHORT_FORM.fullmatch(text):
        return "#" + "".join(digit * 2 for digit in short.groups())
    if rgb := _RGB_FORM.fullmatch(text):
        return "#" + "".join(f"{min(int(value), _MOST):02x}" for value in rgb.groups())
    return _NAMES.get(text, "")


def ratio(first: str, second: str) -> float:
    """Return the contrast ratio of two colours of the form `#rrggbb`, from 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def text_on(background: str) -> str:
    """Return black or white, whichever is easier to read: the ratio is 4.58 at least."""
    return max(WHITE, BLACK, key=lambda text: ratio(text, background))


def darker(color: str, *, on: str = WHITE) -> str:
    """Return the lightest shade of a colour that has LEAST_RATIO on a light background."""
    return _first_shade(color, BLACK, on=on)


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
