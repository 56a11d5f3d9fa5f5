"""Time spans in words, for pages of operators."""

from __future__ import annotations

from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400


def duration(seconds: float) -> str:
    """Return a time span in words, such as `1.2 s` or `3 h 5 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    return _long(seconds)


def whole_seconds(seconds: float) -> str:
    """Return a time span in whole seconds, such as `12 s`; a negative span counts as zero."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < _MINUTE else _long(whole)


def _long(seconds: float) -> str:
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"
    if seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
    return f"{seconds // _DAY:.0f} days {seconds % _DAY // _HOUR:.0f} h"
