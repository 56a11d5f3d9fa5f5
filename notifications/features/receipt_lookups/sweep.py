"""Receipt lookups: ask the vendors for receipts, and apply them as those of a callback.

    claim due rows (commit) -> ask the vendor -> apply the receipts (commit) -> delete the rows

Safe to run twice or concurrently: a claim moves the due time, and a receipt that comes again
changes nothing. A process that dies on the way leaves rows that come due again. Late: the vendor
keeps a receipt for its time. Never: a failure stays unknown, and a device that is gone is known
from the next message.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import structlog

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.feedback import delivery_receipts
from notifications.core.store.redis import last_receipts
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept
from notifications.features.receipt_lookups import rows
from notifications.features.receipt_lookups.rows import Waiting
from providers.receipt_lookup import Answer, LooksUpReceipts

_log = structlog.get_logger(__name__)

DEADLINE: Final = dt.timedelta(seconds=5)
AGAIN_IN: Final = dt.timedelta(minutes=15)
"""Time to the next question about a message without a receipt."""
KEPT: Final = dt.timedelta(days=1)
"""Age of a row whose provider is not configured any more."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Ask about due rows, up to `limit` at a time; counts the rows that ended."""
    del now  # each page has its own time
    if conf.current().dry_run:
        return Swept()
    return loops.repeat(functools.partial(_ask_page, limit=limit))


def _ask_page(*, limit: int) -> Swept:
    now = clock.now()
    waiting = rows.claim(now=now, limit=limit, again_in=AGAIN_IN)
    by_provider: dict[str, list[Waiting]] = defaultdict(list)
    for each in waiting:
        by_provider[each.provider].append(each)
    asked = [_ask(provider, some, now=now) for provider, some in by_provider.items()]
    # A vendor that does not answer is asked again by the next run, and not by this one.
    is_answered = all(each.is_answered for each in asked)
    more = len(waiting) == limit and is_answered
    return Swept(sum(each.ended for each in asked), more=more)


class _Asked(NamedTuple):
    ended: int
    """Rows that ended."""
    is_answered: bool


def _ask(provider: str, waiting: Sequence[Waiting], *, now: dt.datetime) -> _Asked:
    adapter = routing.provider_named(provider)
    if not isinstance(adapter, LooksUpReceipts):
        old = [each for each in waiting if each.sent_at <= now - KEPT]
        return _Asked(_end(old, provider=provider), is_answered=True)
    size = adapter.lookup.per_call
    parts = [waiting[start : start + size] for start in range(0, len(waiting), size)]
    ended, is_answered = 0, True
    for part in parts:
        answer = adapter.look_up_receipts([each.message_id for each in part], deadline=DEADLINE)
        _apply(provider, answer, part)
        left = [each for each in part if each.message_id not in answer.known]
        rows.delete({each.id for each in part} - {each.id for each in left})
        old = [each for each in left if each.sent_at <= now - adapter.lookup.kept]
        ended += len(part) - len(left) + _end(old, provider=provider)
        is_answered = is_answered and not answer.fault
    return _Asked(ended, is_answered)


def _apply(provider: str, answer: Answer, part: Sequence[Waiting]) -> None:
    """Apply the receipts of an answer about messages."""
    if answer.fault:
        _log.warning(
            "receipts_not_looked_up", provider=provider, count=len(part), error=answer.fault
        )
        return
    if answer.known:
        last_receipts.note(provider)
    told = {each.provider_message_id: each for each in answer.receipts}
    receipts = [
        replace(told[each.message_id], delivery_id=each.delivery_id)
        for each in part
        if each.message_id in told
    ]
    changed = delivery_receipts.record(provider, receipts)
    _log.info(
        "receipts_looked_up",
        provider=provider,
        asked=len(part),
        known=len(answer.known),
        failed=len(receipts),
        changed=changed,
    )


def _end(expired: Sequence[Waiting], *, provider: str) -> int:
    """Delete rows after the time for which the vendor keeps receipts; returns their number."""
    if expired:
        _log.warning("receipts_never_told", provider=provider, count=len(expired))
        rows.delete({each.id for each in expired})
    return len(expired)
