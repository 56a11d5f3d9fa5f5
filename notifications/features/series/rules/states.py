"""The states of a series and of an enrolment."""

from __future__ import annotations

from enum import StrEnum


class SeriesState(StrEnum):
    """The state of a series."""

    DRAFT = "draft"
    """No version is published, so the series takes no enrolments."""
    ACTIVE = "active"
    """The series takes enrolments, and due steps run."""
    PAUSED = "paused"
    """The series takes enrolments, and due steps wait until the series is resumed."""
    ARCHIVED = "archived"
    """The series takes no enrolments, and running enrolments exit. The state is final."""


class EnrolmentState(StrEnum):
    """The state of an enrolment."""

    RUNNING = "running"
    """The recipient is at a step."""
    FINISHED = "finished"
    """The last step has ended."""
    EXITED = "exited"
    """The enrolment ended before the last step; `exit_reason` names the cause."""


class ExitReason(StrEnum):
    """The cause of an exit."""

    GOAL = "goal"
    """The goal event of the series was posted."""
    UNSUBSCRIBED = "unsubscribed"
    """The recipient switched off the type or the category of a message."""
    REQUESTED = "requested"
    """The producer or an operator ended the enrolment."""
    ARCHIVED = "archived"
    """The series was archived."""
    STEP = "step"
    """An exit step was reached."""
    REJECTED = "rejected"
    """A message was rejected, and the step says `on_rejected: exit`."""


class StepOutcome(StrEnum):
    """The result of a step in the history of an enrolment."""

    SENT = "sent"
    """The message was accepted; `notification_id` names the notification."""
    REJECTED = "rejected"
    """The message was refused; `detail` has the problem."""
    WAITED = "waited"
    """The wait ended by its time."""
    EVENT = "event"
    """The wait ended by its event."""
    THEN = "then"
    """The condition was true."""
    ELSE = "else"
    """The condition was false."""
    EXITED = "exited"
    """The enrolment left the series at this step; `detail` has the cause."""


class Reentry(StrEnum):
    """The rule for a recipient enrolled before."""

    NEVER = "never"
    """A recipient is enrolled once."""
    AFTER_EXIT = "after_exit"
    """A recipient is enrolled again after the end of the last enrolment."""
