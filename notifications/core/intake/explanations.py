"""Explanations: optional fields of the response to an accepted request.

skipped    with `delivery: first`: unused channels and the reasons warnings   accepted input with a
possibly unintended effect recipient  of a request with addresses: the user id, and if the recipient
is new
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final

from notifications.core.intake import validation
from notifications.core.intake.validation import IntakeRequest, ValidRequest
from notifications.core.rules.problems import FieldError
from notifications.core.rules.reasons import Reason
from notifications.core.rules.request import NotificationRequest
from providers.contract import Channel

_NOT_NEEDED: Final = "not_needed"
"""Reason of a usable channel after the chosen channel."""
_LATE: Final = dt.timedelta(minutes=5)
"""`scheduled_at` may lie this far in the past without a warning: clocks differ, calls are
repeated."""


def response_fields(
    ask: IntakeRequest,
    checked: ValidRequest,
    skipped: Sequence[tuple[Channel, Reason | None]],
    *,
    now: dt.datetime,
) -> dict[str, Any]:
    """Return the additional response fields; empty for most requests."""
    fields: dict[str, Any] = {}
    if skipped:
        fields["skipped"] = [
            {"channel": channel.label, "reason": _NOT_NEEDED if stop is None else stop.value}
            for channel, stop in skipped
        ]
    if warnings := [
        *validation.unknown_variables(ask.request, checked.template),
        *_late(ask.request, now),
    ]:
        fields["warnings"] = [{"pointer": each.pointer, "detail": each.detail} for each in warnings]
    if ask.recipient is not None:
        fields["recipient"] = {"user_id": ask.recipient.user_id, "registered": ask.recipient.is_new}
    return fields


def _late(request: NotificationRequest, now: dt.datetime) -> list[FieldError]:
    if request.scheduled_at is None or request.scheduled_at >= now - _LATE:
        return []
    return [FieldError("/scheduled_at", "lies in the past: the notification leaves at once")]
