"""Release: queue scheduled notifications and held rows when they are due.

A scheduled notification gets its contacts at release, because channels and devices change. Until
then a scheduled row represents each channel. The row takes a contact of its channel, further
devices get additional rows, and a channel that the recipient disabled is suppressed. A delivery
with an ordering key gets its queue position at release.

For a time on the recipient's wall clock, the recipient's timezone is read again. If the local time
is still ahead in the new timezone, the notification is postponed; if it has passed, the
notification leaves at once and the timeline shows the delay.
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

from notifications.core import clock
from notifications.core.models import Notification
from notifications.core.rules import channels, ids
from notifications.core.rules.channels import RecipientContacts, Spread, Target
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.times.local_time import NO_ZONE, When
from notifications.core.rules.transitions import RELEASE, SUPPRESS, Transition
from notifications.core.scheduling import reschedule
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import (
    claims,
    db,
    fair_queue,
    id_ranges,
    inserts,
    ordering_queues,
    reads,
    transitions,
)
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.store.postgres.inserts import NewDelivery
from notifications.core.store.postgres.transitions import STILL_DUE, Move
from providers.contract import Channel

Row = dict[str, Any]
"""A row of `due_for_release.sql` or `deliveries_of.sql`."""
_READ: Final = (
    *("id", "producer_id", "mode", "priority", "type", "category", "recipient_id", "channels"),
    *("spread", "ordering_key", "scheduled_at", "local_at", "local_zone", "expires_at"),
    "created_at",
)
"""Columns of a notification for a release: without content and variables."""


@dataclass(slots=True)
class _ReleasePlan:
    """The changes of a release."""

    contacts: dict[UUID, int] = field(default_factory=dict)
    go: list[Move] = field(default_factory=list)
    stop: list[Move] = field(default_factory=list)
    more: list[NewDelivery] = field(default_factory=list)
    channels: dict[UUID, int] = field(default_factory=dict)

    def stop_all(self, rows: Iterable[Row], reason: Reason, *, detail: str) -> None:
        """Add suppressed rows."""
        self.stop += [Move(id=row["id"], reason=reason, detail=detail) for row in rows]


@dataclass(slots=True)
class _Group:
    """The deliveries of a locked notification."""

    waiting: list[Row] = field(default_factory=list)
    """Due rows without a contact."""
    taken: set[int] = field(default_factory=set)
    """Channels with another delivery, of any status."""
    last: int = 0
    """The highest delivery number."""

    def add(self, row: Row) -> None:
        """Add a row of `deliveries_of.sql`."""
        self.last = max(self.last, ids.number_of(row["id"]))
        if row["waits"]:
            self.waiting.append(row)
        else:
            self.taken.add(row["channel"])


def requeue(rows: Sequence[Row], transition: Transition, *, reason: Reason) -> int:
    """Queue held rows with a contact, in fair order among producers.

    Safe to run twice: the transition expects the row's status.
    """
    due_in = fair_queue.due_in(rows)
    now_due = [
        Move(id=row["id"], reason=reason, due_in=due_in.get(row["id"], clock.AT_ONCE))
        for row in rows
    ]
    return len(transitions.apply(transition, now_due, STILL_DUE))


def resolve(rows: Sequence[Row]) -> int:
    """Choose contacts of scheduled rows and queue them; returns the number of changed and new rows.

    All scheduled rows of a notification are resolved together, across lanes. A channel with a
    delivery gets no second delivery. Safe in concurrent sweeps: the notifications are locked, and
    locked notifications are skipped until the next run.
    """
    if not rows:
        return 0
    return db.in_transaction(lambda: _resolve([row["id"] for row in rows]))


def _resolve(delivery_ids: Sequence[UUID]) -> int:
    wanted = sorted({ids.notification_of(each) for each in delivery_ids})
    span = id_ranges.around(wanted)
    notifications = _lock(wanted, span)
    erased = _missing(set(wanted) - notifications.keys(), span)
    groups = _groups([*notifications, *erased], span)
    reaches = reads.reaches_by_id({each.recipient_id for each in notifications.values()})
    plan = _ReleasePlan()
    for notification_id, group in groups.items():
        notification = notifications.get(notification_id)
        reach = reaches.get(notification.recipient_id) if notification else None
        if notification is None or reach is None:
            plan.stop_all(group.waiting, Reason.NO_CONTACT, detail="erased")
            continue
        moved_to = _current_local_time(notification, reach)
        if moved_to is None or not _postpone(notification, moved_to):
            chosen = _targets(notification, reach)
            _place(plan, group, chosen, detail=_delay_text(notification, moved_to))
    moved = _write(plan, _due_in(plan, notifications))
    _enqueue_ordered(notifications, plan)
    return moved


def _lock(notification_ids: Iterable[UUID], span: Span) -> dict[UUID, Notification]:
    """Lock notifications in id order, without already locked notifications."""
    free = Notification.objects.select_for_update(skip_locked=True).order_by("id")
    return {row.id: row for row in _within(free, notification_ids, span).only(*_READ)}


def _missing(notification_ids: Iterable[UUID], span: Span) -> list[UUID]:
    """Return the notifications that an erasure of the recipient removed."""
    wanted = set(notification_ids)
    if not wanted:
        return []
    found = _within(Notification.objects.all(), wanted, span).values_list("id", flat=True)
    return sorted(wanted - set(found))


def _within(
    rows: QuerySet[Notification], notification_ids: Iterable[UUID], span: Span
) -> QuerySet[Notification]:
    """Add the id bounds as constants, so that the planner reads only matching partitions."""
    return rows.filter(id__in=list(notification_ids), id__gte=span["floor"], id__lt=span["ceiling"])


def _groups(notification_ids: Sequence[UUID], span: Span) -> dict[UUID, _Group]:
    """Return deliveries by notification, without notifications with a locked waiting row."""
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


def _current_local_time(row: Notification, reach: RecipientContacts) -> When | None:
    """Return the local time in the recipient's current timezone; None without a timezone change."""
    if not row.local_at or row.local_zone == reach.timezone:
        return None
    return When.by_wall_clock(dt.datetime.fromisoformat(row.local_at), reach.timezone)


def _postpone(row: Notification, when: When) -> bool:
    """Postpone a notification if the local time is ahead in the new timezone."""
    detail = f"the recipient's zone is {when.zone or 'unknown'} by now"
    return when.at > clock.now() and reschedule.postpone(row, when, detail=detail)


def _delay_text(row: Notification, when: When | None) -> str:
    """Return the timeline's text for a local time that passed before the release."""
    if when is None or row.scheduled_at is None or when.at >= row.scheduled_at:
        return ""
    hours = (row.scheduled_at - when.at) / dt.timedelta(hours=1)
    zone = when.zone or f"{NO_ZONE} (their zone is unknown)"
    return f"{hours:.3g} h late: the recipient's clock is that of {zone} by now"


def _targets(notification: Notification, reach: RecipientContacts) -> list[Target]:
    return channels.targets(
        reach,
        wanted=[Channel(channel) for channel in notification.channels],
        spread=Spread(notification.spread),
        topics=notification_types.topics(notification.type, notification.category),
        priority=Priority(notification.priority),
    )


def _place(plan: _ReleasePlan, group: _Group, targets: Sequence[Target], *, detail: str) -> None:
    """Assign the waiting row of its channel to a target; further devices get additional rows."""
    free: dict[int, Row] = {}
    for row in group.waiting:
        if row["channel"] in free or row["channel"] in group.taken:
            plan.stop_all([row], Reason.OPTED_OUT, detail="its channel has a delivery")
        else:
            free[row["channel"]] = row
    for target in targets:
        waiting = free.pop(target.channel, None)
        if target.contact_id is None:
            if waiting is not None:
                plan.stop_all([waiting], target.stop or Reason.NO_CONTACT, detail="")
        elif waiting is not None:
            plan.contacts[waiting["id"]] = target.contact_id
            plan.channels[waiting["id"]] = target.channel
            go = Move(id=waiting["id"], reason=Reason.RELEASED, detail=detail, due_in=clock.AT_ONCE)
            plan.go.append(go)
        elif target.channel not in group.taken:
            group.last += 1
            new = _additional_delivery(group.waiting[0], target, number=group.last)
            plan.more.append(new)
            plan.channels[new.id] = target.channel
    plan.stop_all(free.values(), Reason.OPTED_OUT, detail="another channel was chosen at release")


def _additional_delivery(row: Row, target: Target, *, number: int) -> NewDelivery:
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
        falls_back=row["falls_back"],
        is_published=False,
    )


def _due_in(
    plan: _ReleasePlan, notifications: Mapping[UUID, Notification]
) -> dict[UUID, dt.timedelta]:
    """Return the due times of P2 and P3 among other producers' rows; zero or negative."""
    asks = {}
    for delivery_id, channel in plan.channels.items():
        row = notifications[ids.notification_of(delivery_id)]
        lane = Lane(Mode(row.mode), Priority(row.priority), Channel(channel))
        if not lane.priority.is_urgent:
            asks[delivery_id] = fair_queue.Ask(lane, row.producer_id)
    return fair_queue.intervals(asks)


def _write(plan: _ReleasePlan, due_in: Mapping[UUID, dt.timedelta]) -> int:
    if plan.contacts:
        claims.set_contacts(plan.contacts)
    go = [move._replace(due_in=due_in.get(move.id, move.due_in)) for move in plan.go]
    moved = transitions.apply(RELEASE, go, STILL_DUE)
    moved += transitions.apply(SUPPRESS, plan.stop, STILL_DUE)
    if plan.more:
        of = [ids.notification_of(each.id) for each in plan.more]
        now = clock.now()
        more = [
            each._replace(due_at=now + due_in.get(each.id, clock.AT_ONCE)) for each in plan.more
        ]
        inserts.deliveries(more, notification_ids=of, now=now)
    return len(moved) + len(plan.more)


def _enqueue_ordered(notifications: Mapping[UUID, Notification], plan: _ReleasePlan) -> None:
    """Insert released deliveries with an ordering key into their ordering queues.

    A delivery whose key has a different priority by now gets no position, because a key has one
    lane.
    """
    released = [move.id for move in plan.go] + [new.id for new in plan.more]
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
            (keys[row.ordering_key].id, plan.channels[delivery_id], delivery_id)
            for delivery_id, row in rows
            if keys[row.ordering_key].priority == row.priority
        ]
    if places:
        ordering_queues.join(places)
