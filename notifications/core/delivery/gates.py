"""Gates: let claimed deliveries pass, hold them, or stop them.

A gate goes over all deliveries of a batch and yields those that it holds or stops; the next gate
gets the others. Cheap and final gates run first. A hold counts as no attempt. Gates use the data of
the claim, so a preference changed while the delivery was queued takes effect. A call that begins
more than a second later has its gates run again, with fresh data (`look_again`): a batch can wait
for its provider until the time to live or the evening. Meanwhile a recipient can write STOP, and
another channel of a fallback chain can reach the recipient.

A stopped delivery is not sent on another channel, even with `delivery: first`: accept (or release,
for scheduled notifications) chooses the channel. A second channel could notify the recipient twice,
because an earlier call may have gone unanswered. A fallback chain accepts that risk: its next
channel follows a stop that concerns the channel (`rules.fallback`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from notifications.core import conf
from notifications.core.delivery import fall_back, quiet_waits, switches
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.gate import Place, function_at
from notifications.core.rules import preferences
from notifications.core.rules.lane import Mode
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.suppression import CONTACT_CHANGED
from notifications.core.rules.transitions import CANCEL_CLAIMED, EXPIRE, HOLD, SUPPRESS, Transition
from notifications.core.store.cached import notification_types, sms_countries
from notifications.core.store.postgres import reads
from providers.contract import Channel

Objection = tuple[ClaimedDelivery, Decision]
"""A delivery that a gate holds or stops, with the decision."""
_NO_TOPICS: Final = frozenset[str]()


def run_gates(batch: Batch) -> None:
    """Hold or stop the deliveries of a batch that may not leave now."""
    for claimed, decision in objections(batch.deliveries, now=batch.now):
        batch.decide(claimed, decision)


def look_again(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> Sequence[ClaimedDelivery]:
    """Hold or stop waiting deliveries by fresh data; returns the others.

    Costs two queries, and one more with members of fallback chains.

    Raises:
        OperationalError: the database failed; no call may begin.
    """
    notifications = reads.notifications({each.notification.id for each in deliveries})
    contacts = reads.destinations(each.delivery.contact_id for each in deliveries)
    for claimed in deliveries:
        notification = notifications.get(claimed.notification.id.int)
        contact = contacts.get(claimed.delivery.contact_id)
        if notification is None or contact is None:
            batch.decide(claimed, _stop(SUPPRESS, Reason.NO_CONTACT))  # erased meanwhile
        else:
            claimed.notification, claimed.destination = notification, contact
    known = [each for each in deliveries if each.notification.id.int in notifications]
    known = [each for each in known if each.delivery.contact_id in contacts]
    fall_back.mark_members(known)
    return _stop_closed(batch, known)


def stop_expired(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> Sequence[ClaimedDelivery]:
    """Stop deliveries past the time to live; returns the rest. Makes no query."""
    now = batch.now
    for each in deliveries:
        if each.notification.expires_at <= now:
            return _stop_closed(batch, deliveries)
    return deliveries


def _stop_closed(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> Sequence[ClaimedDelivery]:
    found = objections(deliveries, now=batch.now)
    for claimed, decision in found:
        batch.decide(claimed, decision)
    batch.commit()
    return _without(deliveries, found)


def objections(deliveries: Sequence[ClaimedDelivery], *, now: dt.datetime) -> list[Objection]:
    """Return the first gate's decision about each delivery that may not leave.

    Args:
        deliveries: deliveries of a claim.
        now: Postgres's time.
    """
    found: list[Objection] = []
    for gate in GATES:
        if of_gate := list(gate(deliveries, now)):
            found += of_gate
            deliveries = _without(deliveries, of_gate)
    return found


def _without(
    deliveries: Sequence[ClaimedDelivery], found: Sequence[Objection]
) -> Sequence[ClaimedDelivery]:
    if not found:
        return deliveries
    stopped = {claimed.delivery.id for claimed, _ in found}
    return [each for each in deliveries if each.delivery.id not in stopped]


def _stop(transition: Transition, reason: Reason) -> Decision:
    return Decision(transition=transition, reason=reason)


def _cancellation(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    for claimed in deliveries:
        if claimed.notification.is_cancelled:
            yield claimed, _stop(CANCEL_CLAIMED, Reason.CANCELLED)


def _chain(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    """Stop a channel of a fallback chain after another channel has reached the recipient."""
    for claimed in deliveries:
        if claimed.is_confirmed_elsewhere:
            yield claimed, _stop(CANCEL_CLAIMED, Reason.CONFIRMED_ELSEWHERE)


def _expiry(deliveries: Sequence[ClaimedDelivery], now: dt.datetime) -> Iterator[Objection]:
    for claimed in deliveries:
        if claimed.notification.expires_at <= now:
            yield claimed, _stop(EXPIRE, _expiry_reason(claimed, now))


def _expiry_reason(claimed: ClaimedDelivery, now: dt.datetime) -> Reason:
    if switches.message_switch(claimed, now=now):
        return Reason.TTL_PASSED_WHILE_PAUSED
    held = quiet_waits.deferral_of(claimed, claimed.notification.expires_at)
    return _EXPIRED_DURING[held.reason] if held else Reason.TTL_PASSED


def _allow_list(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    """Stop recipients missing from NOTIFY_ALLOWED_RECIPIENTS, in live mode."""
    allowed = conf.current().allowed
    if allowed is None:
        return
    for claimed in deliveries:
        user_id, address = claimed.notification.user_id, claimed.destination.address
        is_live = claimed.delivery.mode is Mode.LIVE
        if is_live and not allowed.allows(user_id=user_id, address=address):
            yield claimed, _stop(SUPPRESS, Reason.NOT_ALLOWED)


def _consent(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    """Stop a channel that is off, and opted-out topics except for P0 and mandatory types."""
    for claimed in deliveries:
        to = claimed.destination
        has_choices = to.channels_off or to.categories_off or to.topics_off
        if has_choices and _is_declined(claimed):
            yield claimed, _stop(SUPPRESS, Reason.OPTED_OUT)


def _is_declined(claimed: ClaimedDelivery) -> bool:
    channel, to = claimed.delivery.channel, claimed.destination
    if channel in to.channels_off:
        return True
    type_ = claimed.notification.type
    declines = preferences.declines(
        to.categories_off,
        to.topics_off.get(channel, _NO_TOPICS),
        topics=(claimed.notification.category, type_),
        priority=claimed.delivery.priority,
    )
    return declines and not notification_types.is_mandatory(type_)


def _contact(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    for claimed in deliveries:
        there = claimed.destination
        is_notice = there.is_taken_away and claimed.notification.type == CONTACT_CHANGED
        if not (there.is_valid or is_notice):
            yield claimed, _stop(SUPPRESS, Reason.NO_CONTACT)


def _quiet(deliveries: Sequence[ClaimedDelivery], now: dt.datetime) -> Iterator[Objection]:
    """Hold during quiet hours and do-not-disturb, by the recipient's clock."""
    for claimed in quiet_waits.with_quiet_times(deliveries):
        if hold := quiet_waits.wait(claimed, now=now):
            wait, reason = hold
            yield (
                claimed,
                Decision(transition=HOLD, reason=reason, due_in=wait, republish_in=wait),
            )


def _suppression(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    """Stop an address on the suppression list, at any priority."""
    for claimed in deliveries:
        if claimed.destination.is_suppressed:
            yield claimed, _stop(SUPPRESS, Reason.SUPPRESSION_LIST)


def _sms_country(deliveries: Sequence[ClaimedDelivery], _now: dt.datetime) -> Iterator[Objection]:
    """Stop a live SMS to a country to which the producer may not send."""
    for claimed in deliveries:
        delivery = claimed.delivery
        if delivery.channel is not Channel.SMS or delivery.mode is not Mode.LIVE:
            continue
        number, producer_id = claimed.destination.address, claimed.notification.producer_id
        if country := sms_countries.wrong_country(producer_id, number):
            stop = Decision(transition=SUPPRESS, reason=Reason.COUNTRY_NOT_ALLOWED, detail=country)
            yield claimed, stop


def _ordering(deliveries: Sequence[ClaimedDelivery], now: dt.datetime) -> Iterator[Objection]:
    """Hold a delivery behind the head of the ordering queue.

    The gate runs last: a delivery stopped by another gate must not block its ordering queue.
    """
    for claimed in deliveries:
        if claimed.waits_for_turn:
            # The earlier delivery publishes this one; otherwise the row is due at its expiry.
            wait = claimed.notification.expires_at - now
            yield claimed, Decision(transition=HOLD, reason=Reason.ORDERING, due_in=wait)


_EXPIRED_DURING: Final = {
    Reason.DO_NOT_DISTURB: Reason.TTL_PASSED_IN_DO_NOT_DISTURB,
    Reason.QUIET_HOURS: Reason.TTL_PASSED_IN_QUIET_HOURS,
    Reason.PRODUCERS_NIGHT: Reason.TTL_PASSED_IN_PRODUCERS_NIGHT,
}

Gate = Callable[[Sequence[ClaimedDelivery], dt.datetime], Iterable[Objection]]

GATES: Final[Sequence[Gate]] = (
    _cancellation,
    _chain,
    _expiry,
    _allow_list,
    _consent,
    _contact,
    _suppression,
    _sms_country,
    *function_at(Place.DIGEST),
    _quiet,
    _ordering,
)
"""The gates, in the order of the calls."""
