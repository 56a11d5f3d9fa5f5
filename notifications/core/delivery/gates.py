"""Gates: let a claimed delivery pass, hold it, or stop it.

Cheap and final gates run first. A hold counts as no attempt. Gates use the data of the claim, so a
preference changed while the delivery was queued takes effect. A call that begins more than a second
later has its gates run again, with fresh data (`look_again`): a batch can wait for its provider
until the time to live or the evening. Meanwhile a recipient can write STOP, and another channel of
a fallback chain can reach the recipient.

A stopped delivery is not sent on another channel, even with `delivery: first`: accept (or release,
for scheduled notifications) chooses the channel. A second channel could notify the recipient twice,
because an earlier call may have gone unanswered. A fallback chain accepts that risk: its next
channel follows a stop that concerns the channel (`rules.fallback`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
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

Verdict = Decision | None
"""The decision of a gate; None lets the delivery pass."""
_NO_TOPICS: Final = frozenset[str]()


def run_gates(batch: Batch) -> None:
    """Hold or stop the deliveries of a batch that may not leave now."""
    now = batch.now
    for claimed in batch.deliveries:
        decision = decision_of(claimed, now=now)
        if decision is not None:
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
        notification = notifications.get(claimed.notification.id)
        contact = contacts.get(claimed.delivery.contact_id)
        if notification is None or contact is None:
            batch.decide(claimed, _stop(SUPPRESS, Reason.NO_CONTACT))  # erased meanwhile
        else:
            claimed.notification, claimed.destination = notification, contact
    known = [each for each in deliveries if each.notification.id in notifications]
    known = [each for each in known if each.delivery.contact_id in contacts]
    fall_back.mark_members(known)
    return _stop_closed(batch, known)


def stop_expired(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> Sequence[ClaimedDelivery]:
    """Stop deliveries past the time to live; returns the rest. Makes no query."""
    now = batch.now
    if all(each.notification.expires_at > now for each in deliveries):
        return deliveries
    return _stop_closed(batch, deliveries)


def _stop_closed(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> Sequence[ClaimedDelivery]:
    free: list[ClaimedDelivery] = []
    now = batch.now
    for claimed in deliveries:
        decision = decision_of(claimed, now=now)
        if decision is None:
            free.append(claimed)
        else:
            batch.decide(claimed, decision)
    batch.commit()
    return free


def decision_of(claimed: ClaimedDelivery, *, now: dt.datetime) -> Verdict:
    """Return the first gate's decision to hold or stop. `now` is Postgres's time."""
    for gate in GATES:
        objection = gate(claimed, now)
        if objection is not None:
            return objection
    return None


def _stop(transition: Transition, reason: Reason) -> Decision:
    return Decision(transition=transition, reason=reason)


def _cancellation(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    return _stop(CANCEL_CLAIMED, Reason.CANCELLED) if claimed.notification.is_cancelled else None


def _chain(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    """Stop a channel of a fallback chain after another channel has reached the recipient."""
    stops = claimed.is_confirmed_elsewhere
    return _stop(CANCEL_CLAIMED, Reason.CONFIRMED_ELSEWHERE) if stops else None


def _expiry(claimed: ClaimedDelivery, now: dt.datetime) -> Verdict:
    if claimed.notification.expires_at > now:
        return None
    if switches.message_switch(claimed, now=now):
        return _stop(EXPIRE, Reason.TTL_PASSED_WHILE_PAUSED)
    held = quiet_waits.deferral_of(claimed, claimed.notification.expires_at)
    return _stop(EXPIRE, _EXPIRED_DURING[held.reason] if held else Reason.TTL_PASSED)


def _allow_list(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    """Stop recipients missing from NOTIFY_ALLOWED_RECIPIENTS, in live mode."""
    allowed = conf.current().allowed
    if allowed is None or claimed.delivery.mode is Mode.TEST:
        return None
    reachable = allowed.allows(
        user_id=claimed.notification.user_id, address=claimed.destination.address
    )
    return None if reachable else _stop(SUPPRESS, Reason.NOT_ALLOWED)


def _consent(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    """Stop a channel that is off, and opted-out topics except for P0 and mandatory types."""
    channel, to = claimed.delivery.channel, claimed.destination
    if channel in to.channels_off:
        return _stop(SUPPRESS, Reason.OPTED_OUT)
    type_ = claimed.notification.type
    declines = preferences.declines(
        to.categories_off,
        to.topics_off.get(channel, _NO_TOPICS),
        topics=(claimed.notification.category, type_),
        priority=claimed.delivery.priority,
    )
    stops = declines and not notification_types.is_mandatory(type_)
    return _stop(SUPPRESS, Reason.OPTED_OUT) if stops else None


def _contact(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    there = claimed.destination
    is_notice = there.is_taken_away and claimed.notification.type == CONTACT_CHANGED
    return None if there.is_valid or is_notice else _stop(SUPPRESS, Reason.NO_CONTACT)


def _quiet(claimed: ClaimedDelivery, now: dt.datetime) -> Verdict:
    """Hold during quiet hours and do-not-disturb, by the recipient's clock."""
    hold = quiet_waits.wait(claimed, now=now)
    if hold is None:
        return None
    wait, reason = hold
    return Decision(transition=HOLD, reason=reason, due_in=wait, republish_in=wait)


def _suppression(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    """Stop an address on the suppression list, at any priority."""
    listed = claimed.destination.is_suppressed
    return _stop(SUPPRESS, Reason.SUPPRESSION_LIST) if listed else None


def _sms_country(claimed: ClaimedDelivery, _now: dt.datetime) -> Verdict:
    """Stop a live SMS to a country to which the producer may not send."""
    delivery = claimed.delivery
    if delivery.channel is not Channel.SMS or delivery.mode is not Mode.LIVE:
        return None
    number, producer_id = claimed.destination.address, claimed.notification.producer_id
    country = sms_countries.wrong_country(producer_id, number)
    if not country:
        return None
    return Decision(transition=SUPPRESS, reason=Reason.COUNTRY_NOT_ALLOWED, detail=country)


def _ordering(claimed: ClaimedDelivery, now: dt.datetime) -> Verdict:
    """Hold a delivery behind the head of the ordering queue.

    The gate runs last: a delivery stopped by another gate must not block its ordering queue.
    """
    if not claimed.waits_for_turn:
        return None
    # The earlier delivery publishes this one; otherwise the row is due at its expiry.
    return Decision(
        transition=HOLD, reason=Reason.ORDERING, due_in=claimed.notification.expires_at - now
    )


_EXPIRED_DURING: Final = {
    Reason.DO_NOT_DISTURB: Reason.TTL_PASSED_IN_DO_NOT_DISTURB,
    Reason.QUIET_HOURS: Reason.TTL_PASSED_IN_QUIET_HOURS,
    Reason.PRODUCERS_NIGHT: Reason.TTL_PASSED_IN_PRODUCERS_NIGHT,
}

Gate = Callable[[ClaimedDelivery, dt.datetime], Verdict]

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
