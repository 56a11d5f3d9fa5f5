r"""The number of segments of an SMS text.

    GSM-7   160 septets, or 153 in each of several     ^ { } \ [ ~ ] | and the euro count two
    UCS-2    70 UTF-16 units, or 67                    an emoji counts two or more

A segment never ends inside an escape pair or a surrogate pair, so it may hold one unit less.
Source: 3GPP TS 23.038 and 23.040. Providers bill by their own count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from providers.sms import gsm7


class Encoding(StrEnum):
    """Encoding of a text."""

    GSM_7 = "GSM-7"
    UCS_2 = "UCS-2"

    @property
    def alone(self) -> int:
        """Units of a text with a single segment."""
        return 160 if self is Encoding.GSM_7 else 70

    @property
    def of_several(self) -> int:
        """Units per segment of a text with several segments."""
        return 153 if self is Encoding.GSM_7 else 67


@dataclass(frozen=True, slots=True)
class SmsSize:
    """Size of a text."""

    encoding: Encoding
    units: int
    """Septets or UTF-16 code units."""
    segments: int
    """At least one: an empty SMS is an SMS."""


def measure(text: str) -> SmsSize:
    """Count a text's units and segments."""
    if gsm7.fits(text):
        encoding, widths = Encoding.GSM_7, [1 + (char in gsm7.EXTENSION) for char in text]
    else:
        encoding, widths = Encoding.UCS_2, [1 + (char > "\uffff") for char in text]
    units = sum(widths)
    segments = 1 if units <= encoding.alone else _fill(widths, room=encoding.of_several)
    return SmsSize(encoding, units, segments)


def _fill(widths: Iterable[int], *, room: int) -> int:
    segments, used = 1, 0
    for width in widths:
        used += width
        if used > room:
            segments, used = segments + 1, width
    return segments
