"""Status webhooks: event of a status change, retries, and pause of a failing endpoint."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Final, NamedTuple

from notifications.core.rules import retries
from notifications.core.rules.reasons import Reason
from notifications.core.rules.retries import Jitter
from notifications.core.rules.states import Status


class StatusEvent(StrEnum):
    """The type of a webhook to a producer."""

    ACCEPTED = "notification.accepted"
    SENT = "notification.sent"
    DELIVERED = "notification.delivered"
    READ = "notification.read"
    FAILED = "notification.failed"
    EXPIRED = "notification.expired"
    SUPPRESSED = "notification.suppressed"
    CANCELLED = "notification.cancelled"
    CONTACT_INVALIDATED = "contact.invalidated"
    """A provider reported an address as dead; all producers of the mode learn of the contact."""
    INBOX_ACTION = "inbox.action"
    """The recipient pressed a button of an in-app message."""
    BULK_JOB_CREATED = "bulk_job.created"
    BULK_JOB_STARTED = "bulk_job.started"
    BULK_JOB_PAUSED = "bulk_job.paused"
    BULK_JOB_RESUMED = "bulk_job.resumed"
    BULK_JOB_FINISHED = "bulk_job.finished"
    """The whole audience is expanded; deliveries may still wait."""
    BULK_JOB_CANCELLED = "bulk_job.cancelled"
    BULK_JOB_ABORTED = "bulk_job.aborted"
    """The service cancelled the job, because a limit was passed."""
    TEST = "webhook.test"
    """Sent by request of the producer or of an operator; concerns no notification."""


FILTERABLE: Final = tuple(event for event in StatusEvent if event is not StatusEvent.TEST)
"""The events that an endpoint's filter can name."""


class ToldChange(NamedTuple):
    """A status change for webhooks."""

    status: Status
    reason: str
    """Empty: any reason."""
    event: StatusEvent


TOLD: Final = (
    ToldChange(Status.QUEUED, Reason.ACCEPTED, StatusEvent.ACCEPTED),
    ToldChange(Status.SCHEDULED, Reason.SCHEDULED, StatusEvent.ACCEPTED),
    ToldChange(Status.SENT, "", StatusEvent.SENT),
    ToldChange(Status.DELIVERED, "", StatusEvent.DELIVERED),
    ToldChange(Status.READ, "", StatusEvent.READ),
    ToldChange(Status.FAILED, "", StatusEvent.FAILED),
    ToldChange(Status.BOUNCED, "", StatusEvent.FAILED),
    ToldChange(Status.EXPIRED, "", StatusEvent.EXPIRED),
    ToldChange(Status.SUPPRESSED, "", StatusEvent.SUPPRESSED),
    ToldChange(Status.CANCELLED, "", StatusEvent.CANCELLED),
)
"""A change without a line (a hold, a claim, a retry) is in the change feed only."""


class EndpointState(StrEnum):
    """The state of an endpoint."""

    ACTIVE = "active"
    PAUSED = "paused"
    """Messages wait."""
    DISABLED = "disabled"
    """No messages are made."""


class MessageState(StrEnum):
    """The state of a message to an endpoint."""

    WAITING = "waiting"
    SENT = "sent"
    """The endpoint answered 2xx."""
    FAILED = "failed"
    """No further call comes."""


class RetryPreset(StrEnum):
    """The retries of an endpoint."""

    STANDARD = "standard"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """The deadline of a call, and the calls after a failure."""

    deadline: dt.timedelta
    preset: retries.Preset
    repeats_refusals: bool
    """False: a 4xx ends the calls of a message."""


_S: Final = dt.timedelta(seconds=1)
POLICIES: Final = {
    RetryPreset.STANDARD: CallPolicy(
        10 * _S,
        retries.Preset(
            "standard", Jitter.THIRD, base=5 * _S, multiplier=3, cap=14_400 * _S, attempts=14
        ),
        repeats_refusals=True,
    ),
    RetryPreset.BRIEF: CallPolicy(
        30 * _S,
        retries.Preset("brief", Jitter.NONE, base=_S, multiplier=2, cap=4 * _S, attempts=4),
        repeats_refusals=False,
    ),
}
"""`standard`: 13 retries over about 24 hours. `brief`: retries after 1, 2 and 4 seconds."""
_FOR_EVER: Final = dt.timedelta(days=365)


def next_call(
    preset: RetryPreset,
    *,
    calls_made: int,
    http_status: int | None,
    retry_after: dt.timedelta | None,
    chance: float,
) -> dt.timedelta | None:
    """Return the wait before the call after a failed call; None: no further call.

    Args:
        preset: the retries of the endpoint.
        calls_made: the calls of the message, the failed one included.
        http_status: the answer; None without one.
        retry_after: the wait that the answer asks for; a shorter wait is lengthened to it.
        chance: one draw from [0, 1).
    """
    policy = POLICIES[preset]
    if http_status == HTTPStatus.GONE:
        return None
    is_refusal = http_status is not None and http_status // 100 == 4  # noqa: PLR2004 - 4xx
    if is_refusal and not policy.repeats_refusals:
        return None
    again = retries.next_try(
        policy.preset,
        calls_made=calls_made,
        chance=chance,
        retry_after=retry_after,
        time_to_live=_FOR_EVER,
        is_urgent=False,
    )
    return None if isinstance(again, Reason) else again.delay


FAILS_FOR: Final = dt.timedelta(hours=1)
FAILED_CALLS: Final = 20


def is_to_pause(*, failures: int, failing_since: dt.datetime | None, now: dt.datetime) -> bool:
    """Return True for an endpoint with failed calls only, for an hour and 20 calls."""
    has_failed_long = failing_since is not None and now - failing_since >= FAILS_FOR
    return has_failed_long and failures >= FAILED_CALLS
