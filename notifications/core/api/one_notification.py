"""`/v1/notifications/{id}`: read, reschedule and cancel a notification."""

from __future__ import annotations

import datetime as dt
from typing import Final, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock, conf
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
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
from notifications.core.rules import ids, request_faults
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, LocalTime
from notifications.core.rules.states import Status, overall
from notifications.core.rules.times.local_time import NO_ZONE
from notifications.core.scheduling import cancel, reschedule
from notifications.core.store.postgres import timelines
from notifications.core.store.postgres.timelines import DeliveryView, Timeline

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


class NotificationDetailView(BaseView):
    """`/v1/notifications/{notification_id}`: read and reschedule a notification."""

    @extend_schema(
        operation_id="get_notification",
        summary="Read a notification with deliveries, attempts and timeline",
        responses={200: NotificationDetail},
        tags=["Notifications"],
    )
    def get(self, request: Request, notification_id: UUID) -> Response:
        """Return a notification with all deliveries, provider calls and the timeline in order."""
        key, timeline = key_of(request), timelines.of(notification_id)
        if timeline is None or (timeline.notification.producer_id, timeline.notification.mode) != (
            key.producer_id,
            key.mode,
        ):
            _raise_archived(notification_id)
            raise_not_found("notification")
        return Response(_detail(timeline).to_json())

    @extend_schema(
        operation_id="reschedule_notification",
        summary="Reschedule a notification",
        request=RescheduleRequest,
        responses={200: NotificationDetail},
        tags=["Notifications"],
    )
    def patch(self, request: Request, notification_id: UUID) -> Response:
        """Reschedule a notification.

        The call fails with 409 after sending has started. The time to live starts at the new time.
        """
        wanted, key = parse_body(request.data, RescheduleRequest), key_of(request)
        local = wanted.send_at_local
        problem = reschedule.reschedule(
            notification_id,
            producer_id=key.producer_id,
            mode=key.mode,
            scheduled_at=wanted.scheduled_at,
            send_at_local=dt.time.fromisoformat(local) if local is not None else None,
        )
        if problem is not None:
            raise_problem(problem)
        return self.get(request, notification_id)


class NotificationCancelView(BaseView):
    """`/v1/notifications/{notification_id}/cancel`: cancel a notification."""

    @extend_schema(
        operation_id="cancel_notification",
        summary="Cancel a notification",
        request=None,
        responses={200: NotificationCancelled},
        tags=["Notifications"],
    )
    @idempotent
    def post(self, request: Request, notification_id: UUID) -> Response:
        """Stop all deliveries which have not been sent.

        A delivery which is being sent is in `in_flight`: it gets no retry and no fallback. A second
        call changes nothing.
        """
        key = key_of(request)
        stopped = cancel.cancel(notification_id, producer_id=key.producer_id, mode=key.mode)
        timeline = timelines.of(notification_id)
        if stopped is None or timeline is None:
            raise_not_found("notification")
        told = NotificationCancelled(
            notification_id=notification_id,
            status=timeline.status,
            stopped=stopped,
            in_flight=[each.id for each in timeline.deliveries if each.status is Status.SENDING],
            deliveries=[_brief(delivery) for delivery in timeline.deliveries],
        )
        return Response(told.to_json())


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


class NotificationWithdrawView(BaseView):
    """`/v1/notifications/{notification_id}/withdraw`: withdraw a notification."""

    @extend_schema(
        operation_id="withdraw_notification",
        summary="Withdraw a notification",
        request=None,
        responses={202: NotificationWithdrawn},
        tags=["Notifications"],
    )
    @idempotent
    def post(self, request: Request, notification_id: UUID) -> Response:
        """Cancel a notification, and remove shown push messages from the devices.

        Deliveries which have not been sent are stopped, as by a cancellation. The app or the
        service worker removes a shown push message when the device gets a silent push. Other
        channels cannot remove a message. The timeline shows the result: `withdrawn`, or
        `not_withdrawn` with the cause; the status of the delivery does not change, and no webhook
        follows. A second call starts only those withdrawals again which failed.
        """
        key = key_of(request)
        row = Notification.objects.filter(
            id=notification_id, producer_id=key.producer_id, mode=key.mode
        ).first()
        found = withdraw.withdraw(notification_id, by=actor_of(request)) if row else []
        if not found:
            raise_not_found("notification")
        body = NotificationWithdrawn(
            notification_id=notification_id,
            status=overall([each.delivery.status for each in found]),
            deliveries=[_withdrawn(each) for each in found],
        )
        return Response(body.to_json(), status=202)


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
            "variables": timeline.variables,
            "delivery": row.spread,
            "fallback_chain": row.falls_back,
            "timezone": (row.local_zone or NO_ZONE) if row.local_at else None,
            "timezone_known": bool(row.local_zone) if row.local_at else None,
            "deliveries": [_delivery(delivery) for delivery in timeline.deliveries],
            "timeline": [EventLine.model_validate(event) for event in timeline.events],
        }
    )


def _delivery(delivery: DeliveryView) -> DeliveryDetail:
    read = {name: getattr(delivery, name, None) for name in DeliveryDetail.model_fields}
    return DeliveryDetail.model_validate(read | {"delivery_id": delivery.id})
