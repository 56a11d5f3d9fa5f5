"""Notifications and schedules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from notify_client import _call
from notify_client._answer import Tagged
from notify_client._sync.engine import Engine, Pages
from notify_client.types import (
    AttachmentAnswer,
    BatchAccepted,
    CancelJobAnswer,
    CancelRequest,
    ListNotificationsQuery,
    ListStatusChangesQuery,
    NotificationAccepted,
    NotificationCancelled,
    NotificationDetail,
    NotificationLine,
    NotificationRequest,
    NotificationWithdrawn,
    PageQuery,
    RescheduleRequest,
    ScheduleAnswer,
    ScheduleChange,
    ScheduleRequest,
    StatusChanges,
)


class Notifications:
    """`/v1/notifications`."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.notifications`."""
        self._engine = engine

    def send(self, **notification: Unpack[NotificationRequest]) -> NotificationAccepted:
        """Send a notification. An accepted notification survives a crash of the service.

        Without `idempotency_key` the client creates a key, so all attempts send once. With a key
        such as `order-4521-ready`, a repeat by the program within 24 hours sends nothing either.

        Raises:
            NotifyError: the call failed; after `NoAnswer` the notification may have been accepted.
        """
        target = _call.path("notifications")
        has_key = notification.get("idempotency_key") is not None
        made = _call.post_with_own_key if has_key else _call.post
        return self._engine.value(made(target, notification), has="notification_id")

    def send_batch(
        self,
        notifications: Sequence[NotificationRequest],
        *,
        idempotency_key: str | None = None,
    ) -> BatchAccepted:
        """Send up to 1,000 notifications; `summary["rejected"]` counts the refused notifications.

        Args:
            notifications: each item may have an `idempotency_key`.
            idempotency_key: the key of the whole call; None creates a key.
        """
        body = {"notifications": notifications}
        target = _call.path("notifications", "batch")
        call = _call.post(target, body, idempotency_key=idempotency_key)
        return self._engine.value(call, has="results")

    def upload_attachment(self, file: bytes, *, media_type: str) -> AttachmentAnswer:
        """Upload a file; the `id` of the answer is for `attachments` of a notification.

        The service stores a content once, so a repeat returns the same `id`.

        Args:
            file: the bytes of the file.
            media_type: the type, such as `application/pdf`.
        """
        target = _call.path("attachments")
        return self._engine.value(_call.file(target, file, media_type=media_type), has="id")

    def get(self, notification_id: str | UUID) -> NotificationDetail:
        """Return a notification with deliveries, provider calls and timeline."""
        return self._engine.value(
            _call.get(_call.path("notifications", notification_id)), has="notification_id"
        )

    def list(self, **query: Unpack[ListNotificationsQuery]) -> Pages[NotificationLine]:
        """List notifications of the key's producer, newest first."""
        return Pages(self._engine, _call.path("notifications"), {**query})

    def changes(self, **query: Unpack[ListStatusChangesQuery]) -> StatusChanges:
        """Return a page of status changes in the order in which the service stored them.

        Each change appears exactly once. Keep `next`, which every page has, and pass the value as
        `cursor` of the next call. After an empty page wait some seconds.
        """
        call = _call.get(_call.path("notifications", "changes"), query)
        return self._engine.value(call, has="next")

    def reschedule(
        self, notification_id: str | UUID, **time: Unpack[RescheduleRequest]
    ) -> NotificationDetail:
        """Change the time of a scheduled notification."""
        target = _call.path("notifications", notification_id)
        return self._engine.value(_call.write("PATCH", target, time), has="notification_id")

    def cancel(
        self, notification_id: str | UUID, *, idempotency_key: str | None = None
    ) -> NotificationCancelled:
        """Cancel unsent deliveries; the answer also lists the sent deliveries."""
        target = _call.path("notifications", notification_id, "cancel")
        return self._engine.value(
            _call.post(target, {}, idempotency_key=idempotency_key), has="notification_id"
        )

    def withdraw(
        self, notification_id: str | UUID, *, idempotency_key: str | None = None
    ) -> NotificationWithdrawn:
        """Cancel unsent deliveries, and remove shown push messages from the devices."""
        target = _call.path("notifications", notification_id, "withdraw")
        return self._engine.value(
            _call.post(target, {}, idempotency_key=idempotency_key), has="notification_id"
        )

    def cancel_many(
        self, *, idempotency_key: str | None = None, **wanted: Unpack[CancelRequest]
    ) -> CancelJobAnswer:
        """Start a job that cancels all matching notifications; see `cancel_jobs`."""
        target = _call.path("notifications", "cancel")
        return self._engine.value(
            _call.post(target, wanted, idempotency_key=idempotency_key), has="id"
        )


class Schedules:
    """`/v1/schedules`: notifications that recur."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.schedules`."""
        self._engine = engine

    def create(
        self, *, idempotency_key: str | None = None, **schedule: Unpack[ScheduleRequest]
    ) -> ScheduleAnswer:
        """Create a schedule."""
        call = _call.post(_call.path("schedules"), schedule, idempotency_key=idempotency_key)
        return self._engine.value(call, has="id")

    def list(self, **query: Unpack[PageQuery]) -> Pages[ScheduleAnswer]:
        """List schedules of the key's producer."""
        return Pages(self._engine, _call.path("schedules"), {**query})

    def get(self, schedule_id: int) -> ScheduleAnswer:
        """A schedule."""
        return self._engine.value(_call.get(_call.path("schedules", schedule_id)), has="id")

    def get_tagged(
        self, schedule_id: int, *, if_none_match: str | None = None
    ) -> Tagged[ScheduleAnswer] | None:
        """Return a schedule and the ETag; None if the ETag is still `if_none_match`."""
        target = _call.path("schedules", schedule_id)
        return self._engine.read_tagged(_call.get(target, if_none_match=if_none_match), has="id")

    def change(
        self, schedule_id: int, *, if_match: str | None = None, **change: Unpack[ScheduleChange]
    ) -> ScheduleAnswer:
        """Change the given fields."""
        target = _call.path("schedules", schedule_id)
        return self._engine.value(_call.write("PATCH", target, change, if_match=if_match), has="id")

    def delete(self, schedule_id: int, *, if_match: str | None = None) -> None:
        """Delete a schedule; created notifications stay."""
        target = _call.path("schedules", schedule_id)
        self._engine.nothing(_call.write("DELETE", target, if_match=if_match))
