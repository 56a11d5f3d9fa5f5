"""Time spans, the recipient's clock and sentences in the templates of the console.

Django's `timesince` counts whole minutes, and shows each span below a minute as `0 minutes`.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from notifications.core import clock
from notifications.core.rules.times.durations import whole_seconds

register = template.Library()

_TIME: Final = "%H:%M"
_DAY_AND_TIME: Final = "%a %-d %b %H:%M"


@register.filter
def time_span(start: dt.datetime, end: dt.datetime | None = None) -> str:
    """Return the time from `start` to `end` in words, such as `12 s`; without `end`: to now.

    A negative span, of two clocks that differ, counts as zero.
    """
    return whole_seconds(((end or clock.now()) - start).total_seconds())


@register.filter
def there(at: dt.datetime, zone: dt.tzinfo) -> str:
    """Return an instant by the recipient's clock and in UTC: `Thu 26 Nov 13:33 there (12:33 UTC)`.

    Where both clocks show the same, and for an unknown timezone, the text has UTC alone.
    """
    utc, local = at.astimezone(dt.UTC), at.astimezone(zone)
    if local.utcoffset() == dt.timedelta(0):
        return f"{utc:{_DAY_AND_TIME}} UTC"
    other = f"{utc:{_TIME}}" if local.date() == utc.date() else f"{utc:{_DAY_AND_TIME}}"
    return f"{local:{_DAY_AND_TIME}} there ({other} UTC)"


@register.filter
def instant(at: dt.datetime, zone: dt.tzinfo) -> SafeString:
    """Return an instant as HTML: `2026-11-26 12:33:01 UTC`, and by the recipient's clock.

    The second part is missing where `there` has UTC alone.
    """
    utc, local = at.astimezone(dt.UTC), at.astimezone(zone)
    shown = format_html("{} UTC", f"{utc:%Y-%m-%d %H:%M:%S}")
    if local.utcoffset() == dt.timedelta(0):
        return shown
    return format_html(
        '{} <span class="nc-quiet">{} there</span>', shown, f"{local:{_DAY_AND_TIME}:%S}"
    )


@register.filter
def end_of_sentence(text: str) -> str:
    """Return a text of an operator with a full stop, unless the text has an end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."
