"""Receipts of fallback chains: a failure opens the next channel, a delivery stops waiting channels.

An operator who resolves an unanswered call as failed reports a failure too.

A receipt and the end of a confirm window change the same row from `sent`: exactly one of both wins.
A receipt that comes after the next channel has opened cancels the channel's deliveries if no worker
holds them yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from notifications.core.delivery import fall_back
from notifications.core.models import Delivery
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.transitions import (
    BOUNCE,
    CANCEL,
    FAIL,
    FALL_BACK_FAILED,
    FALL_BACK_RESOLVED,
    RESOLVE_AS_FAILED,
    Transition,
)
from notifications.core.store.postgres import db, id_ranges, reads, transitions
from notifications.core.store.postgres.transitions import (
    ANYONE,
    FromProvider,
    Guard,
    Move,
    OfRecipients,
)
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.telemetry import traces

_FAILURES: Final = {
    FAIL: FALL_BACK_FAILED,
    BOUNCE: BOUNCE,
    RESOLVE_AS_FAILED: FALL_BACK_RESOLVED,
}
"""The transition of a failure, and of the same failure when another channel follows."""
WAITING: Final = sorted(OPEN - {Status.SENDING})
"""Statuses of an open delivery that no worker has claimed."""


def apply(transition: Transition, moves: Mapping[UUID, Move], guard: Guard) -> set[UUID]:
    """Apply the receipts of a kind; returns the changed deliveries."""
    moved = _apply(transition, moves, guard) if moves else set()
    _record_spans(transition, moved, guard)
    return moved


def _apply(transition: Transition, moves: Mapping[UUID, Move], guard: Guard) -> set[UUID]:
    if transition in _FAILURES:
        return _fail(transition, moves, guard)
    moved = transitions.apply_rows(transition, moves.values(), guard)
    _stop_waiting_channels([row["id"] for row in moved if row["falls_back"]])
    return _ids(moved)


def _fail(transition: Transition, moves: Mapping[UUID, Move], guard: Guard) -> set[UUID]:
    members = _members(moves)
    if not members:
        return set(transitions.apply(transition, moves.values(), guard))

    def work() -> set[UUID]:
        made = fall_back.plan(members)
        replaced = [move for each, move in moves.items() if made.replaces(each)]
        others = [move for each, move in moves.items() if not made.replaces(each)]
        moved = {
            *transitions.apply(_FAILURES[transition], replaced, guard),
            *transitions.apply(transition, others, guard),
        }
        fall_back.carry_out(made, moved)
        return moved

    return db.in_transaction(work)


def _members(moves: Mapping[UUID, Move]) -> set[UUID]:
    """Return the deliveries that belong to a fallback chain."""
    span = id_ranges.around(moves)
    rows = Delivery.objects.filter(id__in=list(moves), falls_back=True)
    bounded = rows.filter(id__gte=span["floor"], id__lt=span["ceiling"])
    return set(bounded.values_list("id", flat=True))


def _stop_waiting_channels(delivery_ids: Sequence[UUID]) -> None:
    """Cancel the waiting deliveries of other channels; a claimed delivery is sent."""
    if not delivery_ids:
        return
    parameters = {**id_ranges.around(delivery_ids), "ids": list(delivery_ids)}
    stop_waiting(_ids(db.rows("chain_waiting", {**parameters, "waiting": WAITING})))


def stop_waiting(delivery_ids: Iterable[UUID]) -> None:
    """Cancel deliveries whose message arrived on another channel; a claimed delivery is sent."""
    stops = [Move(id=each, reason=Reason.CONFIRMED_ELSEWHERE) for each in delivery_ids]
    if stops:
        frequency_caps.refund_after_commit(transitions.apply(CANCEL, stops, ANYONE))


def _ids(rows: Sequence[Mapping[str, Any]]) -> set[UUID]:
    return {row["id"] for row in rows}


def _record_spans(transition: Transition, moved: Collection[UUID], guard: Guard) -> None:
    """Record receipts that changed deliveries, after the commit; costs a query if traces are on.

    Args:
        transition: the transition of the receipts.
        moved: the changed deliveries.
        guard: names the provider of the receipts, or the recipients whose app sent the receipts.
            A change by an operator is no receipt.
    """
    if not traces.are_on() or not moved or not isinstance(guard, FromProvider | OfRecipients):
        return
    parents = reads.traceparents({ids.notification_of(each) for each in moved})
    system = guard.name if isinstance(guard, FromProvider) else "client"
    status = transition.to.label
    for delivery_id in moved:
        parent = parents.get(ids.notification_of(delivery_id), "")
        if traces.is_sampled(parent):
            transaction.on_commit(partial(_record_span, status, delivery_id, parent, system))


def _record_span(status: str, delivery_id: UUID, parent: str, system: str) -> None:
    from notifications.core.telemetry import spans  # noqa: PLC0415 - only if spans are exported

    spans.record(
        f"receipt {status}",
        kind=spans.CONSUMER,
        parent=parent,
        attributes={
            "messaging.system": system,
            "messaging.operation.type": "process",
            "messaging.operation.name": "receipt",
            "messaging.message.id": str(delivery_id),
            "messaging.message.conversation_id": str(ids.notification_of(delivery_id)),
            "notifications.status": status,
        },
    )
