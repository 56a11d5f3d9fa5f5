"""Release: what waited may go. A schedule's contacts are chosen now, not when it was accepted.

Channel and devices can change while a notification waits. One scheduled row stands for each channel
until its time comes; then it takes a contact of that channel, further devices get rows of their
own, and a channel that is not wanted any more is suppressed. With an ordering key it joins its line
here: a schedule's turn is that of its release. One that was asked for by the recipient's wall clock
waits on when that clock hangs further west by now, and is late, which it says, when further east.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from notifications import clock
from notifications.models import Notification
from notifications.pipeline import reschedule
from notifications.rules import channels, ids
from notifications.rules.channels import Reach, Spread, Target
from notifications.rules.lane import Mode, Priority
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.times.local_time import NO_ZONE, When
from notifications.rules.transitions import RELEASE, SUPPRESS, Transition
from notifications.store import claims, db, inserts, line, reads, transitions
from notifications.store.inserts import NewDelivery
from notifications.store.transitions import STILL_DUE, Move
from providers.contract import Channel

Row = dict[str, Any]
"""A row of `due.sql`."""


@dataclass(slots=True)
class _Resolved:
    """What releasing a batch of schedules comes to."""

    contacts: dict[UUID, int] = field(default_factory=dict)
    go: list[Move] = field(default_factory=list)
    stop: list[Move] = field(default_factory=list)
    more: list[NewDelivery] = field(default_factory=list)
    channels: dict[UUID, int] = field(default_factory=dict)


def back_to_queue(rows: Sequence[Row], transition: Transition, *, reason: Reason) -> int:
    """Rows that have their contact and only waited: due for the relay at once.

    Guarded, so twice is once.
    """
    now_due = [Move(id=row["id"], reason=reason, due_in=clock.AT_ONCE) for row in rows]
    return len(transitions.apply(transition, now_due, STILL_DUE))


def resolve(rows: Sequence[Row]) -> int:
    """Give scheduled rows their contacts and queue them; returns how many rows moved or were made.

    Safe from two sweeps at once: the notifications are locked, and what is resolved is left out.
    """
    if not rows:
        return 0
    return db.in_transaction(lambda: _resolve(rows))


def _resolve(rows: Sequence[Row]) -> int:
    waiting: dict[UUID, list[Row]] = defaultdict(list)
    for row in _still_waiting(rows):
        waiting[ids.notification_of(row["id"])].append(row)
    notifications = Notification.objects.in_bulk(list(waiting))
    reaches = reads.reaches_by_id({each.recipient_id for each in notifications.values()})
    highest = _highest(waiting)
    resolved = _Resolved()
    for notification_id, group in waiting.items():
        notification = notifications.get(notification_id)
        reach = reaches.get(notification.recipient_id) if notification else None
        if notification is None or reach is None:
            gone = (Move(id=row["id"], reason=Reason.NO_CONTACT, detail="erased") for row in group)
            resolved.stop.extend(gone)
            continue
        moved_to = _where_they_are(notification, reach)
        if moved_to is None or not _postponed(notification, moved_to):
            chosen, last = _targets(notification, reach), highest[notification_id]
            _place(resolved, group, chosen, after=last, detail=_lateness(notification, moved_to))
    moved = _write(resolved)
    _join_lines(notifications, resolved)
    return moved


def _where_they_are(row: Notification, reach: Reach) -> When | None:
    """Its local time in the recipient's zone of now; None where that has not changed."""
    if not row.local_at or row.local_zone == reach.timezone:
        return None
    return When.by_wall_clock(dt.datetime.fromisoformat(row.local_at), reach.timezone)


def _postponed(row: Notification, when: When) -> bool:
    """Move it when its local time is still ahead where the recipient is now."""
    detail = f"the recipient's zone is {when.zone or 'unknown'} by now"
    return when.at > clock.now() and reschedule.postpone(row, when, detail=detail)


def _lateness(row: Notification, when: When | None) -> str:
    """What the timeline says where that time was over before it could be known."""
    if when is None or row.scheduled_at is None or when.at >= row.scheduled_at:
        return ""
    hours = (row.scheduled_at - when.at) / dt.timedelta(hours=1)
    zone = when.zone or f"{NO_ZONE} (their zone is unknown)"
    return f"{hours:.3g} h late: the recipient's clock is that of {zone} by now"


def _still_waiting(rows: Sequence[Row]) -> list[Row]:
    """Lock the notifications, in id order, and leave out what another sweep has just resolved."""
    db.run("lock_notifications", {"ids": list({ids.notification_of(row["id"]) for row in rows})})
    delivery_ids = [row["id"] for row in rows]
    found = db.rows("still_scheduled", {"ids": delivery_ids, "scheduled": Status.SCHEDULED})
    open_ids = {row["id"] for row in found}
    return [row for row in rows if row["id"] in open_ids]


def _highest(notification_ids: Iterable[UUID]) -> dict[UUID, int]:
    rows = db.rows("highest_deliveries", {"ids": list(notification_ids)})
    return {row["id"]: ids.number_of(row["last"]) for row in rows}


def _targets(notification: Notification, reach: Reach) -> list[Target]:
    return channels.targets(
        reach,
        wanted=[Channel(channel) for channel in notification.channels],
        spread=Spread(notification.spread),
        topics=(notification.category, notification.type),
        priority=Priority(notification.priority),
    )


def _place(
    resolved: _Resolved, group: Sequence[Row], targets: Sequence[Target], *, after: int, detail: str
) -> None:
    """Give each target the waiting row of its channel, or a new one."""
    free = {row["channel"]: row for row in group}
    for target in targets:
        row = free.pop(target.channel, None)
        if row is None and target.contact_id is not None:
            after += 1
            new = _beside(group[0], target, number=after)
            resolved.more.append(new)
            resolved.channels[new.id] = target.channel
        elif row is not None and target.contact_id is None:
            resolved.stop.append(Move(id=row["id"], reason=target.stop or Reason.NO_CONTACT))
        elif row is not None and target.contact_id is not None:
            resolved.contacts[row["id"]] = target.contact_id
            resolved.channels[row["id"]] = target.channel
            go = Move(id=row["id"], reason=Reason.RELEASED, detail=detail, due_in=clock.AT_ONCE)
            resolved.go.append(go)
    resolved.stop.extend(
        Move(id=row["id"], reason=Reason.OPTED_OUT, detail="another channel was chosen at release")
        for row in free.values()
    )


def _beside(row: Row, target: Target, *, number: int) -> NewDelivery:
    return NewDelivery(
        id=ids.delivery_id(ids.notification_of(row["id"]), number),
        mode=row["mode"],
        priority=row["priority"],
        channel=target.channel,
        status=Status.QUEUED,
        reason=Reason.RELEASED,
        due_at=clock.now(),
        recipient_id=row["recipient_id"],
        contact_id=target.contact_id,
        is_published=False,
    )


def _write(resolved: _Resolved) -> int:
    if resolved.contacts:
        claims.set_contacts(resolved.contacts)
    moved = transitions.apply(RELEASE, resolved.go, STILL_DUE)
    moved += transitions.apply(SUPPRESS, resolved.stop, STILL_DUE)
    if resolved.more:
        of = [ids.notification_of(each.id) for each in resolved.more]
        inserts.deliveries(resolved.more, notification_ids=of, now=clock.now())
    return len(moved) + len(resolved.more)


def _join_lines(notifications: Mapping[UUID, Notification], resolved: _Resolved) -> None:
    """Those with an ordering key; one that has another priority by now leads no line of theirs."""
    released = [(move.id, row) for move in resolved.go if (row := _line_of(move.id, notifications))]
    released += [(new.id, row) for new in resolved.more if (row := _line_of(new.id, notifications))]
    places = []
    for delivery_id, row in released:
        mode, priority = Mode(row.mode), Priority(row.priority)
        key = line.keys(row.producer_id, mode, {row.ordering_key: priority})[row.ordering_key]
        if key.priority is priority:
            places.append((key.id, resolved.channels[delivery_id], delivery_id))
    if places:
        line.join(places)


def _line_of(delivery_id: UUID, notifications: Mapping[UUID, Notification]) -> Notification | None:
    found = notifications.get(ids.notification_of(delivery_id))
    return found if found is not None and found.ordering_key else None
