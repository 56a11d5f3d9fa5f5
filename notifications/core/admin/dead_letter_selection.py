"""The selection of dead letters: selected rows, or all rows matching the list's filters.

The list, the confirmation page and the job read the same query string with this module, so all
three use the same dead letters.
"""

from __future__ import annotations

from django.http import QueryDict

from notifications.core import clock
from notifications.core.admin.base import RECENT
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Mode
from providers.contract import Channel


def read(query: QueryDict) -> LetterFilter:
    """Read a filter from a query string. Missing parameters do not narrow the selection.

    Raises:
        ValueError: a number or a channel is invalid.
    """
    ids, channel, mode = query.get("ids"), query.get("channel"), query.get("mode")
    producer = query.get("producer")
    newer, older = query.get("within", ""), query.get("before", "")
    now = clock.now()
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
