"""`/v1/notifications/{id}`: read, reschedule and cancel a notification."""

from __future__ import annotations

import datetime as dt
from typing import Final, Self
from uuid import UUID

from pydantic import model_validator

from notifications.core import clock, conf
from notifications.core.api import attached_files
from notifications.core.api.base_view import raise_not_found
from notifications.core.api.examples import NOTIFICATION, SCHEDULED, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import (
    DeliveryBrief,
    DeliveryDetail,
    DeliveryWithdrawn,
    EventLine,
    NotificationCancelled,
    NotificationDetail,
    NotificationWithdrawn,
    RequestModel,
)
from notifications.core.models import ArchiveDay, ArchiveState, Notification
from notifications.core.operations import withdraw
from notifications.core.rules import attachments, ids, request_faults
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, LocalTime
from notifications.core.rules.scopes import Scope
from notifications.core.rules.states import Status, overall
from notifications.core.rules.times.local_time import NO_ZONE
from notifications.core.scheduling import cancel, reschedule
from notifications.core.store.postgres import timelines
from notifications.core.store.postgres.timelines import DeliveryView, Timeline

_PATH: Final = "v1/notifications/<uuid:notification_id>"
_SCHEDULED: Final = {"notification_id": SCHEDULED}
_WRITERS: Final = Access(Scope.NOTIFICATIONS_WRITE)
_PLACES: Final = {
    ArchiveState.ARCHIVED: "and are archived since then; an operator can search the archive",
    ArchiveState.NOT_ARCHIVED: "and are in no archive",
    ArchiveState.EXPIRED: "and were deleted from the archive later",
}
"""State of a dropped day -> place of the notifications."""


class RescheduleRequest(RequestModel):
    """The new time: exactly one of `scheduled_at` and `send_at_local`."""

    scheduled_at: Instant | None = None
    send_at_local: LocalTime | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.scheduled_at is None) == (self.send_at_local is None):
            said = "give either scheduled_at or send_at_local"
            raise request_faults.error_at(said, "scheduled_at")
        return self


@operation(
    f"GET {_PATH}",
    "Read a notification with deliveries, attempts and timeline",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    answers={200: NotificationDetail},
    tag="Notifications",
    examples={
        "minimal": Example("A sent notification", path={"notification_id": NOTIFICATION}),
        "scheduled": Example("A scheduled notification", path=_SCHEDULED),
    },
)
def get_notification(call: Call) -> NotificationDetail:
    """Return a notification with all deliveries, provider calls and the timeline in order."""
    return _read(call)


@operation(
    f"PATCH {_PATH}",
    "Reschedule a notification",
    _WRITERS,
    RescheduleRequest,
    answers={200: NotificationDetail},
    tag="Notifications",
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example(
            "At nine in the morning, on the recipient's clock",
            path=_SCHEDULED,
            body={"send_at_local": "09:00"},
        ),
        "instant": Example(
            "At an instant; an instant in the past means now",
            path=_SCHEDULED,
            body={"scheduled_at": "2026-11-01T18:30:00Z"},
        ),
    },
)
def reschedule_notification(call: Call, wanted: RescheduleRequest) -> NotificationDetail:
    """Reschedule a notification.

    The call fails with 409 after sending has started. The time to live starts at the new time.
    """
    local = wanted.send_at_local
    problem = reschedule.reschedule(
        call.path["notification_id"],
        producer_id=call.key.producer_id,
        mode=call.mode,
        scheduled_at=wanted.scheduled_at,
        send_at_local=dt.time.fromisoformat(local) if local is not None else None,
    )
    if problem is not None:
        raise_problem(problem)
    return _read(call)


@operation(
    f"POST {_PATH}/cancel",
    "Cancel a notification",
    _WRITERS,
    answers={200: NotificationCancelled},
    tag="Notifications",
    examples={
        "minimal": Example("Cancel a notification", path=_SCHEDULED),
        "usual": Example(
            "With an idempotency key",
            path=_SCHEDULED,
            headers={"Idempotency-Key": "cancel-ord-4521"},
        ),
    },
)
def cancel_notification(call: Call) -> NotificationCancelled:
    """Stop all deliveries which have not been sent.

    A delivery which is being sent is in `in_flight`: it gets no retry and no fallback. A second
    call changes nothing.
    """
    id_ = call.path["notification_id"]
    stopped = cancel.cancel(id_, producer_id=call.key.producer_id, mode=call.mode)
    timeline = timelines.of(id_)
    if stopped is None or timeline is None:
        raise_not_found("notification")
    return NotificationCancelled(
        notification_id=id_,
        status=timeline.status,
        stopped=stopped,
        in_flight=[each.id for each in timeline.deliveries if each.status is Status.SENDING],
        deliveries=[_brief(delivery) for delivery in timeline.deliveries],
    )


@operation(
    f"POST {_PATH}/withdraw",
    "Withdraw a notification",
    _WRITERS,
    answers={202: NotificationWithdrawn},
    tag="Notifications",
    examples={
        "minimal": Example("Withdraw a notification", path=_SCHEDULED),
        "usual": Example(
            "With an idempotency key",
            path=_SCHEDULED,
            headers={"Idempotency-Key": "withdraw-ord-4521"},
        ),
    },
)
def withdraw_notification(call: Call) -> NotificationWithdrawn:
    """Cancel a notification, and remove shown push messages from the devices.

    Deliveries which have not been sent are stopped, as by a cancellation. The app or the
    service worker removes a shown push message when the device gets a silent push. Other
    channels cannot remove a message. The timeline shows the result: `withdrawn`, or
    `not_withdrawn` with the cause; the status of the delivery does not change, and no webhook
    follows. A second call starts only those withdrawals again which failed.
    """
    id_ = call.path["notification_id"]
    row = Notification.objects.filter(
        id=id_, producer_id=call.key.producer_id, mode=call.mode
    ).first()
    found = withdraw.withdraw(id_, by=call.by) if row else []
    if not found:
        raise_not_found("notification")
    return NotificationWithdrawn(
        notification_id=id_,
        status=overall([each.delivery.status for each in found]),
        deliveries=[_withdrawn(each) for each in found],
    )


def _read(call: Call) -> NotificationDetail:
    id_ = call.path["notification_id"]
    timeline, mine = timelines.of(id_), (call.key.producer_id, call.mode)
    if timeline is None or mine != (timeline.notification.producer_id, timeline.notification.mode):
        _raise_archived(id_)
        raise_not_found("notification")
    return _detail(timeline)


def _raise_archived(id_: UUID) -> None:
    """Answer 404 with the date if the day of an id left the database.

    The text is about the day, so an id of another producer gets the same answer. Reads one row, and
    only for a day past retention.
    """
    day = ids.day_of(id_)
    if day >= clock.now().date() - conf.current().retention:
        return
    dropped = ArchiveDay.objects.filter(day=day, dropped_at__isnull=False)
    for state, at in dropped.values_list("state", "dropped_at"):
        place = _PLACES[ArchiveState(state)]
        detail = f"notifications of {day} left the database on {at:%Y-%m-%d}, {place}"
        raise_problem(Problem(Kind.NOT_FOUND, detail))


def _withdrawn(found: withdraw.DeliveryWithdrawal) -> DeliveryWithdrawn:
    brief = _brief(found.delivery)
    return DeliveryWithdrawn(**dict(brief), withdrawal=found.state, detail=found.state.sentence)


def _brief(delivery: DeliveryView) -> DeliveryBrief:
    return DeliveryBrief(delivery_id=delivery.id, channel=delivery.channel, status=delivery.status)


def _detail(timeline: Timeline) -> NotificationDetail:
    row, template = timeline.notification, timeline.template
    return NotificationDetail.model_validate(
        {name: getattr(row, name) for name in NotificationDetail.model_fields if hasattr(row, name)}
        | {
            "notification_id": row.id,
            "status": timeline.status,
            "template_id": template.template_id if template else None,
            "template_version": template.version if template else None,
            "template_variant": row.template_variant or None,
            "variables": timeline.variables,
            "delivery": row.spread,
            "fallback_chain": row.falls_back,
            "attachments": attached_files.describe(attachments.read(row.attachments)),
            "timezone": (row.local_zone or NO_ZONE) if row.local_at else None,
            "timezone_known": bool(row.local_zone) if row.local_at else None,
            "deliveries": [_delivery(delivery) for delivery in timeline.deliveries],
            "timeline": [EventLine.model_validate(event) for event in timeline.events],
        }
    )


def _delivery(delivery: DeliveryView) -> DeliveryDetail:
    read = {name: getattr(delivery, name, None) for name in DeliveryDetail.model_fields}
    return DeliveryDetail.model_validate(read | {"delivery_id": delivery.id})
