"""Fall back: open the next channel of a notification with a fallback chain.

    worker's decision, end of a confirm window, failure receipt
        -> plan       locks the notifications and asks `rules.fallback`
        -> the caller changes the statuses of the triggered deliveries
        -> carry_out  ends the channel's waiting devices, resolves the channel's dead letters, and
                      inserts the next deliveries

All steps run in one transaction. The lock on the notification allows one plan at a time, and a
channel with a delivery gets no second delivery, so a chain never opens a channel twice. A receipt
and the end of a confirm window change the same row from `sent`, so exactly one of both wins. Safe
to run twice, late or never: without a changed delivery nothing is opened, and P0 and P1 come due
two seconds after a failed publish.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import structlog
from django.db import transaction

from notifications.core import clock
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.models import Delivery
from notifications.core.rules import channels, fallback, ids
from notifications.core.rules.channels import RecipientContacts, Spread
from notifications.core.rules.fallback import ChainStep, Member
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import FALL_BACK_WAITING
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import (
    db,
    dead_letters,
    id_ranges,
    inserts,
    publish,
    reads,
    transitions,
)
from notifications.core.store.postgres.inserts import NewDelivery
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.store.rate_limits import frequency_caps
from notifications.core.store.templates import template_cache
from providers.contract import Channel

Row = TypeVar("Row", bound=Mapping[str, Any])
"""A row of `due.sql`."""
_log = structlog.get_logger(__name__)
_CHANNELS: Final = {channel.value: channel for channel in Channel}
"""Known channels. A chain leaves out a channel of a newer release."""
_FOLLOWED: Final = "the next channel follows"
"""Resolution of the dead letters of an ended channel."""


class _ChainRow(NamedTuple):
    """A locked notification: a row of `chain_lock.sql`."""

    id: UUID
    mode: int
    priority: int
    type: str
    category: str
    recipient_id: int
    channels: list[int]
    """The channels of the chain, in order."""
    template: int | None
    falls_back: bool


class Opening(NamedTuple):
    """The next channel of a notification."""

    triggered: frozenset[UUID]
    """The deliveries whose end opens the channel."""
    devices: list[UUID]
    """Waiting devices of the ended channel."""
    failed: list[UUID]
    """Deliveries that failed before; one that failed beside an open device has a dead letter."""
    deliveries: list[NewDelivery]


class FallbackPlan(NamedTuple):
    """The answers of the chains to triggered deliveries."""

    answers: dict[UUID, ChainStep]
    """By triggered delivery; a missing delivery stays as decided."""
    openings: dict[UUID, Opening]
    """By notification."""

    def replaces(self, delivery_id: UUID) -> bool:
        """Return True if another channel takes the place of a delivery: no dead letter."""
        return self.answers.get(delivery_id, ChainStep.STAY) is not ChainStep.STAY


def free_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of a sweep without chains that another transaction has locked.

    Locks the notifications of the chains, so that `plan` does not wait. A sweep that waited would
    stop for a frozen transaction, and would deadlock with a worker, which locks the notification
    before the delivery. A row left out stays due for the next run.
    """
    chains = {ids.notification_of(row["id"]) for row in rows if row["falls_back"]}
    if not chains:
        return rows
    found = db.rows("chain_busy", {**id_ranges.around(chains), "ids": sorted(chains)})
    busy = {row["id"] for row in found}
    return [row for row in rows if ids.notification_of(row["id"]) not in busy]


def plan(triggered: Collection[UUID], *, is_window: bool = False) -> FallbackPlan:
    """Lock the notifications of triggered deliveries, and plan the next channels.

    Needs a transaction.

    Args:
        triggered: members of fallback chains.
        is_window: True if their confirm windows have ended.
    """
    by_notification: dict[UUID, set[UUID]] = defaultdict(set)
    for each in triggered:
        by_notification[ids.notification_of(each)].add(each)
    made = FallbackPlan({}, {})
    rows = _lock(by_notification, only_chains=True) if by_notification else []
    if not rows:
        return made
    members = _members([row.id for row in rows])
    reaches = reads.reaches_by_id({row.recipient_id for row in rows})
    versions = template_cache.by_id({row.template for row in rows if row.template})
    for row in rows:
        version = versions.get(row.template or 0)
        texts = frozenset(version.texts) if version else frozenset(Channel)
        for channel, ended in _by_channel(members[row.id], by_notification[row.id]).items():
            chain = _Chain(row, members[row.id], channel, ended, texts)
            _add(made, chain, reaches.get(row.recipient_id), is_window=is_window)
    return made


def carry_out(made: FallbackPlan, moved: Collection[UUID]) -> None:
    """Open the planned channels of deliveries that have changed, in the same transaction.

    A channel with a triggered delivery that is still open has not ended.
    """
    going = {
        notification_id: each
        for notification_id, each in made.openings.items()
        if not each.triggered.isdisjoint(moved) and _are_over(each.triggered.difference(moved))
    }
    if not going:
        return
    ended = [
        Move(id=each, reason=Reason.ESCALATED) for one in going.values() for each in one.devices
    ]
    given_up = transitions.apply(FALL_BACK_WAITING, ended, ANYONE)
    dead_letters.resolve_of([each for one in going.values() for each in one.failed], _FOLLOWED)
    insert([each for one in going.values() for each in one.deliveries])
    frequency_caps.refund_after_commit(given_up)


def on_channel(delivery_ids: Collection[UUID], *, channel: Channel) -> dict[UUID, NewDelivery]:
    """Plan a delivery on another channel in place of each delivery, if possible.

    Needs a transaction, and locks the notifications. The producer's channels, the texts, the
    recipient's contacts and preferences decide; a channel with a delivery gets no second one.
    """
    of = {ids.notification_of(each): each for each in delivery_ids}
    rows = _lock(of, only_chains=False)
    if not rows:
        return {}
    members = _members([row.id for row in rows])
    reaches = reads.reaches_by_id({row.recipient_id for row in rows})
    versions = template_cache.by_id({row.template for row in rows if row.template})
    planned: dict[UUID, NewDelivery] = {}
    for row in rows:
        version, reach = versions.get(row.template or 0), reaches.get(row.recipient_id)
        has_text = version is None or channel in version.texts
        is_used = any(each.channel == channel for each in members[row.id])
        is_allowed = not row.channels or channel in row.channels
        if reach and has_text and is_allowed and not is_used:
            new = _new_deliveries(row, members[row.id], reach, [channel])
            planned.update(dict(zip([of[row.id]], new, strict=False)))
    return planned


def insert(deliveries: Collection[NewDelivery]) -> None:
    """Insert planned deliveries, and publish them after the commit."""
    if deliveries:
        owners = [ids.notification_of(each.id) for each in deliveries]
        inserts.deliveries(list(deliveries), notification_ids=owners, now=clock.now())
        transaction.on_commit(lambda: _publish(deliveries))


def mark_members(deliveries: Iterable[ClaimedDelivery]) -> None:
    """Mark claimed members of chains with a reached recipient, and fallbacks.

    A receipt cancels waiting deliveries; a delivery claimed at the time of the receipt waits again
    after a hold, a retry or the worker's death, and the gate stops the delivery.
    """
    members = {each.delivery.id: each for each in deliveries if each.delivery.falls_back}
    if not members:
        return
    parameters = {
        **id_ranges.around(members),
        "ids": list(members),
        "channels": [int(each.delivery.channel) for each in members.values()],
        "reached": sorted(fallback.REACHED),
        "stopped": sorted(fallback.STOPPED_UNSENT),
        "failed": int(Status.FAILED),
        "push": int(Channel.PUSH),
    }
    for row in db.rows("chain_others", parameters):
        members[row["id"]].is_confirmed_elsewhere = row["is_reached"]
        members[row["id"]].is_fallback = row["is_fallback"]


def _are_over(unchanged: Collection[UUID]) -> bool:
    """Return True if triggered deliveries without a change had ended before.

    After a lost lease such a delivery is queued again, and its own end opens the next channel.
    """
    if not unchanged:
        return True
    rows = Delivery.objects.filter(id__in=unchanged)
    return not rows.exclude(status__in=fallback.OVER).exists()


def _lock(notification_ids: Collection[UUID], *, only_chains: bool) -> list[_ChainRow]:
    """Lock notifications in id order; cancelled and expired notifications are left out."""
    parameters = {
        **id_ranges.around(notification_ids),
        "ids": list(notification_ids),
        "only_chains": only_chains,
    }
    return db.fetch_as("chain_lock", parameters, _ChainRow)


def _members(notification_ids: list[UUID]) -> dict[UUID, list[Member]]:
    found: dict[UUID, list[Member]] = defaultdict(list)
    parameters = {**id_ranges.around(notification_ids), "ids": notification_ids}
    for row in db.rows("chain_members", {**parameters, "most": ids.MAX_DELIVERIES}):
        member = _member(row)
        found[ids.notification_of(member.id)].append(member)
    return found


def _member(row: Mapping[str, Any]) -> Member:
    return Member(row["id"], row["channel"], Status(row["status"]), row["is_open"])


def _by_channel(members: Iterable[Member], triggered: Collection[UUID]) -> dict[Channel, set[UUID]]:
    """Return the triggered deliveries by channel."""
    found: dict[Channel, set[UUID]] = defaultdict(set)
    for each in members:
        if each.id in triggered:
            found[Channel(each.channel)].add(each.id)
    return found


class _Chain(NamedTuple):
    """A locked notification with its deliveries and the channel with a trigger."""

    row: _ChainRow
    members: list[Member]
    channel: Channel
    triggered: set[UUID]
    texts: Collection[Channel]
    """The channels for which the notification has a text."""


def _add(
    made: FallbackPlan, chain: _Chain, reach: RecipientContacts | None, *, is_window: bool
) -> None:
    """Add the answer of a notification's chain to the plan."""
    row, members, channel, triggered, texts = chain
    order = [_CHANNELS[each] for each in row.channels if each in _CHANNELS]
    later = [each for each in fallback.later_channels(order, members) if each in texts]
    new = _new_deliveries(row, members, reach, later) if reach and later else []
    answer = fallback.advance(
        members,
        channel=channel,
        triggered=triggered,
        is_urgent=Priority(row.priority).is_urgent,
        has_next=bool(new),
        is_window=is_window,
    )
    made.answers.update(dict.fromkeys(triggered, answer))
    if answer is ChainStep.NEXT:
        others = [each for each in members if each.id not in triggered]
        devices = fallback.waiting_devices(others, channel=channel)
        failed = [each.id for each in others if each.status is Status.FAILED]
        made.openings[row.id] = Opening(frozenset(triggered), devices, failed, new)


def _new_deliveries(
    row: _ChainRow, members: list[Member], reach: RecipientContacts, later: list[Channel]
) -> list[NewDelivery]:
    """Return the deliveries of the first usable later channel; empty without such a channel."""
    priority, now = Priority(row.priority), clock.now()
    targets = channels.targets(
        reach,
        wanted=later,
        spread=Spread.FIRST,
        topics=notification_types.topics(row.type, row.category),
        priority=priority,
    )
    last = max(ids.number_of(each.id) for each in members)
    return [
        NewDelivery(
            id=ids.delivery_id(row.id, last + place),
            mode=row.mode,
            priority=priority,
            channel=target.channel,
            status=Status.QUEUED,
            due_at=now + publish.FIRST_REPUBLISH if priority.is_urgent else now,
            reason=Reason.FALLBACK,
            recipient_id=row.recipient_id,
            contact_id=target.contact_id,
            falls_back=row.falls_back,
            is_published=priority.is_urgent,
        )
        for place, target in enumerate(targets[: ids.MAX_DELIVERIES - last], start=1)
        if target.contact_id is not None
    ]


def _publish(deliveries: Collection[NewDelivery]) -> None:
    """Publish P0 and P1 after the commit; the relay publishes other priorities."""
    for each in deliveries:
        _log.info(
            "fallback_opened",
            channel=Channel(each.channel).label,
            delivery_id=str(each.id),
            priority=Priority(each.priority).name,
        )
    publish.publish_new(deliveries)
