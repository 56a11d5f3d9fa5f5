"""Provider calls as rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max, Min

from notifications.core.models import Attempt
from notifications.core.rules.reasons import Reason
from notifications.core.store.postgres import db, id_ranges

LOST: Final = "worker_lost"
"""Code of a call that the rescue has recorded, because its worker died or hung."""


class AttemptRow(NamedTuple):
    """The row of one ended provider call."""

    delivery_id: UUID
    number: int
    outcome: str
    code: str
    detail: str
    """Redacted."""
    latency_ms: int
    segments: int | None = None
    """SMS segments by the provider's count, or else by our own; None elsewhere."""
    http_status: int | None = None
    retry_after_s: int | None = None
    """Seconds that the provider asked to wait."""
    signed_with: str = ""
    """Web Push: the public VAPID key."""
    country: str = ""
    """Country by `rules.countries`, ISO 3166-1 alpha-2; empty if unknown."""
    cost_micros: int | None = None
    """Price of an accepted or unanswered call in microdollars; None: free."""
    reserved_at: dt.datetime | None = None
    """Time that chose the days of the budgets; None: the call counts in no budget."""


def record(calls: Sequence[AttemptRow], *, provider: str) -> None:
    """Write an attempt for each call; an existing attempt stays. Of equal calls the first counts.

    The same transaction writes an event of each delivery: by a change of status, or by `tell`.

    Raises:
        IntegrityError: another transaction wrote an attempt at the same moment. `db.in_transaction`
            runs the transaction again.
    """
    if calls:
        # An adapter may give two results of one call.
        first = {(each.delivery_id.int, each.number): each for each in reversed(calls)}
        span = id_ranges.around([each.delivery_id for each in calls])
        db.run("attempts", {"provider": provider, **span, **db.columns(list(first.values()))})


def record_in_sweep(calls: Sequence[AttemptRow], *, provider: str) -> None:
    """Write attempts as `record`, in a transaction that is not run again."""
    try:
        with transaction.atomic():
            record(calls, provider=provider)
    except IntegrityError:
        record(calls, provider=provider)


def record_failed_over(calls: Sequence[AttemptRow], *, provider: str) -> None:
    """Write an attempt and an event for each call: a failed-over delivery keeps the status.

    Safe to run twice: an existing attempt stays, and gets no event.
    """
    if calls:
        db.in_transaction(lambda: _record_and_tell(calls, provider))


def _record_and_tell(calls: Sequence[AttemptRow], provider: str) -> None:
    record(calls, provider=provider)
    _tell(calls, Reason.FAILED_OVER)


def tell(calls: Iterable[AttemptRow], *, moved: Collection[UUID]) -> None:
    """Write an event for each call stored or answered by this transaction without a move.

    The roll-ups count a call with an event of its transaction. A move has written an event; a
    receipt, or another claim, may have decided about the delivery before.

    Args:
        calls: calls stored or answered by the transaction; other calls get no event.
        moved: the deliveries whose status the transaction has changed.
    """
    _tell([each for each in calls if each.delivery_id not in moved], Reason.CALL_ENDED)


def _tell(calls: Sequence[AttemptRow], reason: Reason) -> None:
    if calls:
        ids = {"delivery_id": [each.delivery_id for each in calls]}
        numbers = {"number": [each.number for each in calls]}
        db.run("events_of_calls", {"reason": reason.value, **ids, **numbers})


def answer_late(calls: Sequence[AttemptRow], *, provider: str) -> None:
    """Give the answer to calls that the rescue has recorded without an answer; others stay.

    Without a refusal the delivery would count as perhaps sent for ever: its exhausted retries would
    end as `unknown`, and its frequency cap would not be refunded. Without an acceptance no report
    would have the cost of the call. A budget keeps the price.
    """
    if calls:
        db.run("answer_late", {"provider": provider, "lost": LOST, **db.columns(calls)})


def first_began(delivery_ids: Collection[UUID]) -> dict[UUID, dt.datetime]:
    """Return the beginning of the first call of each delivery with a call."""
    found = Attempt.objects.filter(delivery_id__in=delivery_ids).values_list("delivery_id")
    return dict(found.annotate(Min("started_at")))


def last_began(delivery_ids: Collection[UUID]) -> dict[UUID, dt.datetime]:
    """Return the beginning of the last call of each delivery with a call."""
    found = Attempt.objects.filter(delivery_id__in=delivery_ids).values_list("delivery_id")
    return dict(found.annotate(Max("started_at")))


def without_answer(
    delivery_ids: Collection[UUID], *, before: Mapping[UUID, int] | None = None
) -> set[UUID]:
    """Return the deliveries of which any call ended without an answer.

    Args:
        delivery_ids: the deliveries.
        before: only calls with a smaller number, by delivery.
    """
    found = Attempt.objects.filter(delivery_id__in=delivery_ids, outcome="unanswered")
    calls = found.values_list("delivery_id", "number")
    return {each for each, number in calls if before is None or number < before[each]}


def perhaps_seen_before(calls: Mapping[UUID, int], *, provider: str, is_visible: bool) -> int:
    """Count the deliveries with an earlier unanswered call, possibly repeated by the new call.

    Args:
        calls: delivery -> number of the call.
        provider: the provider of the calls.
        is_visible: True if the provider shows two messages of one idempotency key; otherwise only
            a call to another provider counts.
    """
    found = Attempt.objects.filter(delivery_id__in=calls, outcome="unanswered")
    earlier = found.values_list("delivery_id", "number", "provider")
    return len({
        each
        for each, number, other in earlier
        if number < calls[each] and (is_visible or other != provider)
    })
