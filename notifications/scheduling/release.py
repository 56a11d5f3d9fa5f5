"""Release: what waited may go. A schedule's contacts are chosen now, not when it was accepted.

Channel and devices can change while a notification waits. One scheduled row stands for each channel
until its time comes; then it takes a contact of that channel, further devices get rows of their
own, and a channel that is not wanted any more is suppressed. With an ordering key it gets its place
here: a schedule's turn is that of its release. One that was asked for by the recipient's wall clock
waits on when that clock hangs further west by now, and is late, which it says, when further east.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from notifications import clock
from notifications.models import Notification
from notifications.rules import channels, ids
from notifications.rules.channels import Reach, Spread, Target
from notifications.rules.lane import Lane, Mode, Priority
from notifications.rules.reasons import Reason
from notifications.rules.states import Status
from notifications.rules.times.local_time import NO_ZONE, When
from notifications.rules.transitions import RELEASE, SUPPRESS, Transition
from notifications.scheduling import reschedule
from notifications.store.postgres import (
    claims,
    db,
    fair_queue,
    id_ranges,
    inserts,
    ordering_queues,
    reads,
    transitions,
)
from notifications.store.postgres.id_ranges import Span
from notifications.store.postgres.inserts import NewDelivery
from notifications.store.postgres.transitions import STILL_DUE, Move
from providers.contract import Channel

Row = dict[str, Any]
"""A row of `due.sql` or `deliveries_of.sql`."""
_READ: Final = (
    *("id", "producer_id", "mode", "priority", "type", "category", "recipient_id", "channels"),
    *("spread", "ordering_key", "scheduled_at", "local_at", "local_zone", "expires_at"),
    "created_at",
)
"""What a release needs of a notification: neither its content nor its variables."""


@dataclass(slots=True)
class _Resolved:
    """What releasing a batch of schedules comes to."""

    contacts: dict[UUID, int] = field(default_factory=dict)
    go: list[Move] = field(default_factory=list)
    stop: list[Move] = field(default_factory=list)
    more: list[NewDelivery] = field(default_factory=list)
    channels: dict[UUID, int] = field(default_factory=dict)

    def stop_all(self, rows: Iterable[Row], reason: Reason, *, detail: str) -> None:
        """Suppress these rows."""
        self.stop += [Move(id=row["id"], reason=reason, detail=detail) for row in rows]


@dataclass(slots=True)
class _Group:
    """The deliveries of one notification, as they are under its lock."""

    waiting: list[Row] = field(default_factory=list)
    """Those that wait for a contact and are due."""
    taken: set[int] = field(default_factory=set)
    """Channels that have another delivery, whatever became of it."""
    last: int = 0
    """The number of its last delivery."""

    def add(self, row: Row) -> None:
        """Sort a row of `deliveries_of.sql` in."""
        self.last = max(self.last, ids.number_of(row["id"]))
        if row["waits"]:
            self.waiting.append(row)
        else:
            self.taken.add(row["channel"])


def back_to_queue(rows: Sequence[Row], transition: Transition, *, reason: Reason) -> int:
    """Rows that have their contact and only waited: due for the relay at once, in their places.

    Guarded, so twice is once.
    """
    due_in = fair_queue.due_in(rows)
    now_due = [
        Move(id=row["id"], reason=reason, due_in=due_in.get(row["id"], clock.AT_ONCE))
        for row in rows
    ]
    return len(transitions.apply(transition, now_due, STILL_DUE))


def resolve(rows: Sequence[Row]) -> int:
    """Give scheduled rows their contacts and queue them; returns how many rows moved or were made.

    All scheduled rows of a notification are resolved together, whatever lanes they are in, and a
    channel that has a delivery gets no second one. Safe from two sweeps at once: the notifications
    are locked. One that somebody else has locked is left for the next run.
    """
    if not rows:
        return 0
    return db.in_transaction(lambda: _resolve([row["id"] for row in rows]))


def _resolve(delivery_ids: Sequence[UUID]) -> int:
    wanted = sorted({ids.notification_of(each) for each in delivery_ids})
    span = id_ranges.around(wanted)
    notifications = _locked(wanted, span)
    erased = _absent(set(wanted) - notifications.keys(), span)
    groups = _groups([*notifications, *erased], span)
    reaches = reads.reaches_by_id({each.recipient_id for each in notifications.values()})
    resolved = _Resolved()
    for notification_id, group in groups.items():
        notification = notifications.get(notification_id)
        reach = reaches.get(notification.recipient_id) if notification else None
        if notification is None or reach is None:
            resolved.stop_all(group.waiting, Reason.NO_CONTACT, detail="erased")
            continue
        moved_to = _where_they_are(notification, reach)
        if moved_to is None or not _postponed(notification, moved_to):
            chosen = _targets(notification, reach)
            _place(resolved, group, chosen, detail=_lateness(notification, moved_to))
    moved = _write(resolved, _due_in(resolved, notifications))
    _join_keys(notifications, resolved)
    return moved


def _locked(notification_ids: Iterable[UUID], span: Span) -> dict[UUID, Notification]:
    """Lock those that nobody else has locked, in id order."""
    free = Notification.objects.select_for_update(skip_locked=True).order_by("id")
    return {row.id: row for row in _within(free, notification_ids, span).only(*_READ)}


def _absent(notification_ids: Iterable[UUID], span: Span) -> list[UUID]:
    """Those that do not exist: their recipient was erased."""
    wanted = set(notification_ids)
    if not wanted:
        return []
    found = _within(Notification.objects.all(), wanted, span).values_list("id", flat=True)
    return sorted(wanted - set(found))


def _within(
    rows: QuerySet[Notification], notification_ids: Iterable[UUID], span: Span
) -> QuerySet[Notification]:
    """The bounds are constants, so that the planner reads their partitions and no others."""
    return rows.filter(id__in=list(notification_ids), id__gte=span["floor"], id__lt=span["ceiling"])


def _groups(notification_ids: Sequence[UUID], span: Span) -> dict[UUID, _Group]:
    """The deliveries of each, without those of which somebody else has locked a waiting row."""
    parameters = {**span, "ids": list(notification_ids)}
    found = db.rows(
        "deliveries_of",
        {**parameters, "scheduled": Status.SCHEDULED, "most": ids.MAX_DELIVERIES},
    )
    groups: dict[UUID, _Group] = defaultdict(_Group)
    for row in found:
        groups[ids.notification_of(row["id"])].add(row)
    waiting = [row["id"] for group in groups.values() for row in group.waiting]
    locked = {row["id"] for row in db.rows("lock_deliveries", {**span, "ids": waiting})}
    return {
        notification_id: group
        for notification_id, group in groups.items()
        if group.waiting and locked.issuperset(row["id"] for row in group.waiting)
    }


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


def _targets(notification: Notification, reach: Reach) -> list[Target]:
    return channels.targets(
        reach,
        wanted=[Channel(channel) for channel in notification.channels],
        spread=Spread(notification.spread),
        topics=(notification.category, notification.type),
        priority=Priority(notification.priority),
    )


def _place(resolved: _Resolved, group: _Group, targets: Sequence[Target], *, detail: str) -> None:
    """Give each target the waiting row of its channel; a further device gets a new row."""
    free: dict[int, Row] = {}
    for row in group.waiting:
        if row["channel"] in free or row["channel"] in group.taken:
            resolved.stop_all([row], Reason.OPTED_OUT, detail="its channel has a delivery")
        else:
            free[row["channel"]] = row
    for target in targets:
        waiting = free.pop(target.channel, None)
        if target.contact_id is None:
            if waiting is not None:
                resolved.stop_all([waiting], target.stop or Reason.NO_CONTACT, detail="")
        elif waiting is not None:
            resolved.contacts[waiting["id"]] = target.contact_id
            resolved.channels[waiting["id"]] = target.channel
            go = Move(id=waiting["id"], reason=Reason.RELEASED, detail=detail, due_in=clock.AT_ONCE)
            resolved.go.append(go)
        elif target.channel not in group.taken:
            group.last += 1
            new = _beside(group.waiting[0], target, number=group.last)
            resolved.more.append(new)
            resolved.channels[new.id] = target.channel
    resolved.stop_all(
        free.values(), Reason.OPTED_OUT, detail="another channel was chosen at release"
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


def _due_in(
    resolved: _Resolved, notifications: Mapping[UUID, Notification]
) -> dict[UUID, dt.timedelta]:
    """How soon those of P2 and P3 are due, among other producers' rows; zero or less."""
    asks = {}
    for delivery_id, channel in resolved.channels.items():
        row = notifications[ids.notification_of(delivery_id)]
        lane = Lane(Mode(row.mode), Priority(row.priority), Channel(channel))
        if not lane.priority.is_urgent:
            asks[delivery_id] = fair_queue.Ask(lane, row.producer_id)
    return fair_queue.intervals(asks)


def _write(resolved: _Resolved, due_in: Mapping[UUID, dt.timedelta]) -> int:
    if resolved.contacts:
        claims.set_contacts(resolved.contacts)
    go = [move._replace(due_in=due_in.get(move.id, move.due_in)) for move in resolved.go]
    moved = transitions.apply(RELEASE, go, STILL_DUE)
    moved += transitions.apply(SUPPRESS, resolved.stop, STILL_DUE)
    if resolved.more:
        of = [ids.notification_of(each.id) for each in resolved.more]
        now = clock.now()
        more = [
            each._replace(due_at=now + due_in.get(each.id, clock.AT_ONCE)) for each in resolved.more
        ]
        inserts.deliveries(more, notification_ids=of, now=now)
    return len(moved) + len(resolved.more)


def _join_keys(notifications: Mapping[UUID, Notification], resolved: _Resolved) -> None:
    """Give released deliveries with an ordering key their places.

    One whose key has another priority by now gets none, because one lane carries a key.
    """
    released = [move.id for move in resolved.go] + [new.id for new in resolved.more]
    wanted: dict[tuple[int, int], list[tuple[UUID, Notification]]] = defaultdict(list)
    for delivery_id in sorted(released):
        row = notifications.get(ids.notification_of(delivery_id))
        if row is not None and row.ordering_key:
            wanted[row.producer_id, row.mode].append((delivery_id, row))
    places = []
    for (producer_id, mode), rows in sorted(wanted.items(), key=itemgetter(0)):
        named = {row.ordering_key: Priority(row.priority) for _, row in rows}
        keys = ordering_queues.keys(producer_id, Mode(mode), named)
        places += [
            (keys[row.ordering_key].id, resolved.channels[delivery_id], delivery_id)
            for delivery_id, row in rows
            if keys[row.ordering_key].priority == row.priority
        ]
    if places:
        ordering_queues.join(places)
