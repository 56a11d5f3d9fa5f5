"""Facts of bulk jobs that tables, webhooks, costs and plots of the core use: states and counts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class BulkJobState(StrEnum):
    """State of a bulk job, as the API shows it."""

    SCHEDULED = "scheduled"
    """The start time is in the future."""
    RUNNING = "running"
    PAUSED = "paused"
    """An operator, the producer or a limit paused the job; no message of the job is sent."""
    CANCELLED = "cancelled"
    """Messages that had not left are cancelled."""
    ABORTED = "aborted"
    """Failures, bounces or complaints passed a limit: cancelled by the service."""
    FINISHED = "finished"
    """The whole audience is expanded. Deliveries may still wait in their lanes."""

    @property
    def is_final(self) -> bool:
        """True if the job expands no further recipient."""
        return self in _FINAL


STOPPED: Final = frozenset({BulkJobState.CANCELLED, BulkJobState.ABORTED})
"""States of a job without further messages."""
_FINAL: Final = STOPPED | {BulkJobState.FINISHED}


class UniqueBy(StrEnum):
    """The unit that gets a single message of a bulk job."""

    ADDRESS = "address"
    """A mailbox, a number, a device or a chat gets one message for all recipients who share it."""
    RECIPIENT = "recipient"
    """Each recipient gets a message, also at an address that several recipients share."""


class Total(StrEnum):
    """A count of events of a job's deliveries."""

    ACCEPTED = "accepted"
    SENT = "sent"
    """A provider accepted the message."""
    DELIVERED = "delivered"
    """A receipt reported the arrival, or that the message was read."""
    READ = "read"
    CLICKED = "clicked"
    FAILED = "failed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    """The recipient reported the message as spam."""
    COST_MICROS = "cost_micros"
    """Cost of accepted calls in millionths of a US dollar."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The progress of the ranges of a job."""

    examined: int = 0
    accepted: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    ids: int = 0
    """Recipient ids of all ranges."""
    ids_done: int = 0
    last_start: dt.datetime | None = None
    """Latest start time of an unfinished range."""
