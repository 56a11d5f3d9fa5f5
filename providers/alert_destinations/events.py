"""The occasions of notices."""

from __future__ import annotations

from enum import StrEnum


class NoticeEvent(StrEnum):
    """The occasion of a notice; Postgres stores the value."""

    RAISED = "raised"
    REMINDED = "reminded"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    TEST = "test"
