"""Withdraw: cancel the deliveries of a notification that have not left, and remove shown pushes.

A withdrawal is a row that the sweep `withdrawals` processes (`withdrawal_calls`), because a second
message through claim and retry would need a notification, a status and a contact check of its own.
The row is stored in the transaction of the answer, so a kill after the answer loses nothing. The
row ends with an event: `withdrawn` if the provider accepted the removal, `not_withdrawn` with the
cause otherwise. The status of the delivery stays, because the message was delivered, and no webhook
follows: the events have no status.

A delivery in the hands of a worker gets a withdrawal too: the sweep waits for the end of the call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Event, Notification
from notifications.core.rules import withdrawals as rules
from notifications.core.rules.audit_facts import Facts
from notifications.core.rules.states import Status
from notifications.core.rules.withdrawals import WithdrawalState
from notifications.core.scheduling import cancel
from notifications.core.store.postgres import audit, db, timelines, withdrawals
from notifications.core.store.postgres.timelines import DeliveryView, Timeline


@dataclass(frozen=True, slots=True)
class DeliveryWithdrawal:
    """A delivery and the state of its withdrawal."""

    delivery: DeliveryView
    state: WithdrawalState


def withdraw(notification_id: UUID, *, by: str) -> list[DeliveryWithdrawal]:
    """Cancel waiting deliveries, and withdraw shown pushes; [] for an unknown notification.

    Safe to run twice: a withdrawal that runs or that the provider has accepted is not started
    again; a withdrawal that ended without success is started again. The audit log gets an entry.

    Args:
        notification_id: the notification.
        by: the operator or the key, in the form of the audit log.
    """

    def work() -> list[DeliveryWithdrawal]:
        # The lock makes concurrent requests see each other's rows and events.
        lock = Notification.objects.select_for_update().filter(pk=notification_id)
        notification = lock.first()
        if notification is None:
            return []
        stopped = cancel.stop([notification_id])
        timeline = timelines.of(notification_id)
        if timeline is None:
            return []
        found = states_of(timeline)
        going = [each.delivery.id for each in found if each.state is WithdrawalState.WITHDRAWING]
        now = clock.now()
        end = rules.ends_at(now=now, expires_at=timeline.notification.expires_at)
        if withdrawals.add(going, ends_at=end, now=now) or stopped:
            after: Facts = {str(each.delivery.id): each.state.value for each in found}
            audit.record(by, "withdraw_notification", notification, after=after)
        return found

    return db.in_transaction(work)


def states_of(timeline: Timeline) -> list[DeliveryWithdrawal]:
    """Return the state that each delivery of a cancelled notification has or would get."""
    notification, past = timeline.notification, _reasons(timeline.events)
    replaced = withdrawals.replaced_contacts(
        notification_id=notification.pk,
        producer_id=notification.producer_id,
        recipient_id=notification.recipient_id,
        collapse_key=notification.collapse_key,
    )
    return [
        DeliveryWithdrawal(
            each, _state(each, past[each.id], is_replaced=each.contact_id in replaced)
        )
        for each in timeline.deliveries
    ]


def _reasons(events: Iterable[Event]) -> defaultdict[UUID | None, list[str]]:
    found: defaultdict[UUID | None, list[str]] = defaultdict(list)
    for each in events:
        found[each.delivery_id].append(each.reason)
    return found


def _state(delivery: DeliveryView, past: list[str], *, is_replaced: bool) -> WithdrawalState:
    state = rules.state_of(
        channel=delivery.channel,
        status=delivery.status,
        outcomes=[each.outcome for each in delivery.attempts],
        past=past,
    )
    if state is not WithdrawalState.WITHDRAWING:
        return state
    if is_replaced:
        return WithdrawalState.REPLACED
    provider = routing.provider_named(delivery.provider)
    is_sending = delivery.status is Status.SENDING
    if provider is not None and not provider.capabilities.withdraws and not is_sending:
        return WithdrawalState.UNSUPPORTED
    return state
