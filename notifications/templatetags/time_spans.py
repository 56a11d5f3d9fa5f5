"""Time spans and sentences in the templates of the console.

Django's `timesince` counts whole minutes, and shows each span below a minute as `0 minutes`.
"""

from __future__ import annotations

import datetime as dt

from django import template

from notifications import clock
from notifications.rules.times.durations import whole_seconds

register = template.Library()


@register.filter
def time_span(start: dt.datetime, end: dt.datetime | None = None) -> str:
    """Return the time from `start` to `end` in words, such as `12 s`; without `end`: to now.

    A negative span, of two clocks that differ, counts as zero.
    """
    return whole_seconds(((end or clock.now()) - start).total_seconds())


@register.filter
def end_of_sentence(text: str) -> str:
    """Return a text of an operator with a full stop, unless the text has an end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
