"""The span of each receipt, a child of the request that made the notification."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from uuid import UUID

from django.db import transaction

from notifications.core.rules import ids
from notifications.core.rules.transitions import Transition
from notifications.core.store.postgres import reads
from notifications.core.store.postgres.transitions import FromProvider, Guard, OfRecipients
from notifications.core.telemetry import traces


def record(transition: Transition, moved: Collection[UUID], guard: Guard) -> None:
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
            transaction.on_commit(partial(_record, status, delivery_id, parent, system))


def _record(status: str, delivery_id: UUID, parent: str, system: str) -> None:
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
