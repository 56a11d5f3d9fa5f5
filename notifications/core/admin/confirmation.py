"""Stamps and moments of confirmation pages: a confirmation holds for the rows on its page.

    STAMP    digest of what the page shows; with another digest the page asks again
    MOMENT   when the page was shown; rows that came later are not in the selection
    COUNT    rows that the page has counted; with more rows the page asks again

The three are hidden fields of the form. They protect an operator from a change between the look and
the click, as If-Match does in the API, and are no protection against the operator.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Final

from django.http import HttpRequest

from notifications.core import clock

STAMP: Final = "shown"
MOMENT: Final = "shown_at"
COUNT: Final = "shown_count"

_OLDEST: Final = dt.timedelta(days=1)
"""A page that was shown before asks again."""
_LONGEST_COUNT: Final = 18
"""Digits of a number of rows."""


def stamp(*facts: object) -> str:
    """Return the digest of JSON values; other objects count as their text."""
    written = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.blake2b(written.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def is_seen(request: HttpRequest, present: str) -> bool:
    """Return True if the form has the present stamp."""
    return request.POST.get(STAMP) == present


def moment(request: HttpRequest) -> dt.datetime | None:
    """Return when the page was shown, in the last day; None: the form does not tell."""
    try:
        found = dt.datetime.fromisoformat(request.POST.get(MOMENT, ""))
    except ValueError:
        return None
    now = clock.now()
    return min(found, now) if found.tzinfo and found > now - _OLDEST else None


def count(request: HttpRequest) -> int:
    """Return the number of rows that the page has counted; 0: the form does not tell."""
    written = request.POST.get(COUNT, "")[:_LONGEST_COUNT]
    return int(written) if written.isascii() and written.isdigit() else 0
