"""States of a bulk job."""

from __future__ import annotations

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
