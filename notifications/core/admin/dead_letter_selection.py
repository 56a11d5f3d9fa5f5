"""The selection of dead letters: selected rows, or all rows matching the list's filters.

The list, the confirmation page and the job read the same query string with this module, so all
three use the same dead letters.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

from django.http import HttpRequest, QueryDict

from notifications.core.admin import confirmation
from notifications.core.admin.base import RECENT
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import dead_letters
from providers.contract import Channel


def read(query: QueryDict, *, now: dt.datetime) -> LetterFilter:
    """Read a filter from a query string. Missing parameters do not narrow the selection.

    Args:
        query: the query string.
        now: the moment from which the ages count.

    Raises:
        ValueError: a number or a channel is invalid.
    """
    ids, channel, mode = query.get("ids"), query.get("channel"), query.get("mode")
    producer = query.get("producer")
    newer, older = query.get("within", ""), query.get("before", "")
    return LetterFilter(
        ids=tuple(int(number) for number in ids.split(",")) if ids else None,
        reason=query.get("reason", ""),
        channel=Channel(int(channel)) if channel else None,
        provider=query.get("provider", ""),
        since=now - RECENT[newer] if newer in RECENT else None,
        until=now - RECENT[older] if older in RECENT else None,
        producer_id=int(producer) if producer else None,
        mode=Mode(int(mode)) if mode else None,
    )


def confirmed(request: HttpRequest) -> LetterFilter | None:
    """Return the filter of the letters that the page has shown; None: the page has to ask again.

    A letter that came after the page was shown is not in the selection.

    Raises:
        ValueError: as `read`.
    """
    moment = confirmation.moment(request)
    if moment is None:
        return None
    wanted = read(request.GET, now=moment)
    wanted = replace(wanted, until=min(wanted.until or moment, moment))
    # A transaction that ended after the look may have made letters with earlier times.
    return wanted if dead_letters.matching(wanted).count() <= confirmation.count(request) else None


def describe_filter(wanted: LetterFilter) -> list[str]:
    """Return the filter as text for operators."""
    facts = {
        "chosen by hand": len(wanted.ids) if wanted.ids else None,
        "reason": wanted.reason,
        "channel": wanted.channel and wanted.channel.label,
        "provider": wanted.provider,
        "since": wanted.since and f"{wanted.since:%d %b %H:%M}",
        "before": wanted.until and f"{wanted.until:%d %b %H:%M}",
        "producer": wanted.producer_id,
        "mode": wanted.mode and wanted.mode.label,
    }
    return [f"{name}: {fact}" for name, fact in facts.items() if fact]
