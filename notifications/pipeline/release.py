"""Release: what waited may go.

Scheduled rows are resolved to contacts now, not when they were scheduled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from notifications import clock
from notifications.models import Notification
from notifications.rules import channels, ids
from notifications.rules.channels import Spread, Stop, Target
from notifications.rules.lane import Priority
from notifications.rules.states import Status
from notifications.store import db, inserts, moves, reads
from notifications.store.inserts import NewDelivery
from notifications.store.moves import Move
from providers.contract import Channel

Row = dict[str, Any]
"""A row of `due.sql`."""


def back_to_queue(rows: Sequence[Row], *, reason: str) -> int:
    """Rows that have their contact and only waited: due for the relay at once.

    Guarded, so twice is once.
    """
    now_due = [Move(id=row["id"], reason=reason, due_in=clock.AT_ONCE) for row in rows]
    return len(moves.move(Status.QUEUED, now_due, only_due=True))


def resolve(rows: Sequence[Row]) -> int:
    """Scheduled rows without a contact: choose channel and contacts as they are now."""
    by_notification: dict[UUID, list[Row]] = {}
    for row in rows:
        by_notification.setdefault(ids.notification_of(row["id"]), []).append(row)
    notifications = Notification.objects.in_bulk(list(by_notification))
    reaches = reads.reaches_by_id({each.recipient_id for each in notifications.values()})
    moved = 0
    for notification_id, waiting in by_notification.items():
        notification = notifications.get(notification_id)
        reach = reaches.get(notification.recipient_id) if notification else None
        if notification is None or reach is None:
            gone = [Move(id=row["id"], reason=Stop.NO_CONTACT, detail="erased") for row in waiting]
            moved += len(moves.move(Status.SUPPRESSED, gone, only_due=True))
            continue
        targets = channels.targets(
            reach,
            wanted=[Channel(channel) for channel in notification.channels],
            spread=Spread(notification.spread),
            category=notification.category,
            passes_opt_outs=notification.priority == Priority.P0,
        )
        moved += _release(notification_id, waiting, targets)
    return moved


def _release(notification_id: UUID, waiting: Sequence[Row], targets: Sequence[Target]) -> int:
    """Give the waiting rows of one notification their contacts.

    And make rows for further devices.
    """
    free = {row["channel"]: row for row in waiting}

    def work() -> int:
        highest = db.rows(
            "highest_delivery",
            {"id": notification_id, "last": ids.last_delivery_of(notification_id)},
        )[0]["id"]
        number, moved = ids.number_of(highest), 0
        for target in targets:
            row = free.pop(target.channel, None)
            if row is not None:
                moved += _settle_target(row["id"], target)
            elif target.stop is None:
                number += 1
                _add(ids.delivery_id(notification_id, number), target, waiting[0])
                moved += 1
        replaced = [
            Move(
                id=row["id"], reason=Stop.OPTED_OUT, detail="another channel was chosen at release"
            )
            for row in free.values()
        ]
        return moved + len(moves.move(Status.SUPPRESSED, replaced, only_due=True))

    return db.in_transaction(work)


def _settle_target(delivery_id: UUID, target: Target) -> int:
    if target.stop is not None or target.contact_id is None:
        stop = Move(id=delivery_id, reason=target.stop or Stop.NO_CONTACT)
        return len(moves.move(Status.SUPPRESSED, [stop], only_due=True))
    moves.set_contact(delivery_id, target.contact_id)
    go = Move(id=delivery_id, reason="released", due_in=clock.AT_ONCE)
    return len(moves.move(Status.QUEUED, [go], only_due=True))


def _add(delivery_id: UUID, target: Target, beside: Row) -> None:
    now = clock.now()
    born = NewDelivery(
        id=delivery_id,
        mode=beside["mode"],
        priority=beside["priority"],
        channel=target.channel,
        status=Status.QUEUED,
        reason="released",
        due_at=now,
        recipient_id=beside["recipient_id"],
        contact_id=target.contact_id,
        is_published=False,
    )
    inserts.deliveries([born], notification_ids=[ids.notification_of(delivery_id)], now=now)
