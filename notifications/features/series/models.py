"""Series, enrolments and custom events."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import MODES
from notifications.core.models.producer import Producer
from notifications.core.models.recipient import Recipient
from notifications.core.rules.lane import Mode
from notifications.features.series.rules.states import (
    EnrolmentState,
    ExitReason,
    SeriesState,
    StepOutcome,
)


class Series(models.Model):
    """Several messages to a recipient over days. The steps are in the versions."""

    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="series")
    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    name = models.CharField(max_length=64)
    state = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in SeriesState],
        default=SeriesState.DRAFT,
        db_default=SeriesState.DRAFT,
    )
    state_changed_at = models.DateTimeField(null=True, blank=True)
    state_changed_by = models.CharField(max_length=150, blank=True)
    current = models.ForeignKey(
        "SeriesVersion",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The version of new enrolments.",
    )
    trigger_event = models.CharField(
        max_length=64, blank=True, help_text="Event that enrols, from the current version."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """A name is unique per producer and mode; a partial index finds series by their event."""

        app_label = "notifications"
        db_table = "series"
        verbose_name_plural = "series"
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("producer", "mode", "name"), name="one_series"),
        )
        indexes = (
            models.Index(
                fields=("trigger_event",),
                condition=~Q(trigger_event=""),
                name="series_by_trigger",
            ),
        )

    def __str__(self) -> str:
        return self.name


class SeriesVersion(models.Model):
    """A definition of a series. A published version never changes: a trigger refuses changes."""

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField(help_text="Trigger, goal and steps.")
    listens = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        help_text="Events of the goal and of waits, which make enrolments due.",
    )
    published_at = models.DateTimeField(null=True, blank=True, help_text="Empty: a draft.")
    published_by = models.CharField(max_length=150, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """A series has at most one draft."""

        app_label = "notifications"
        db_table = "series_version"
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=("series", "number"), name="one_series_version"),
            models.UniqueConstraint(
                fields=("series",), condition=Q(published_at=None), name="one_series_draft"
            ),
        )

    def __str__(self) -> str:
        return f"{self.series} v{self.number}"


class SeriesEnrolment(models.Model):
    """A recipient in a series, at a step of a version.

    At `due_at` the sweep `series` continues; an ended enrolment has no `due_at`. A recipient has at
    most one running enrolment in a series.
    """

    series = models.ForeignKey(Series, on_delete=models.CASCADE, related_name="enrolments")
    version = models.ForeignKey(SeriesVersion, on_delete=models.PROTECT, related_name="+")
    recipient = models.ForeignKey(
        Recipient, on_delete=models.CASCADE, related_name="series_enrolments"
    )
    user_id = models.CharField(max_length=128)
    number = models.PositiveIntegerField(help_text="First, second ... enrolment of the recipient.")
    state = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in EnrolmentState],
        default=EnrolmentState.RUNNING,
        db_default=EnrolmentState.RUNNING,
    )
    exit_reason = models.CharField(
        max_length=12, blank=True, choices=[(each.value, each.value) for each in ExitReason]
    )
    position = models.CharField(
        max_length=200, blank=True, help_text="JSON pointer of the step; empty: after the last."
    )
    arrived_at = models.DateTimeField(help_text="Arrival at the step.")
    due_at = models.DateTimeField(null=True, help_text="The sweep continues at this time.")
    context = models.JSONField(default=dict, db_default={}, help_text="Variables of the messages.")
    counts_from = models.DateTimeField(help_text="Events stored from this time on count.")
    after_event = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="The custom event that enrolled the recipient, which does not count.",
    )
    results = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Number of rows in the history."
    )
    problem = models.CharField(max_length=300, blank=True, help_text="Why the step is delayed.")
    enrolled_at = models.DateTimeField()
    enrolled_by = models.CharField(max_length=150, blank=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """Indexes serve the sweep, the figures, and the deletion of old histories."""

        app_label = "notifications"
        db_table = "series_enrolment"
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("series", "recipient", "number"), name="one_enrolment_number"
            ),
            models.UniqueConstraint(
                fields=("series", "recipient"),
                condition=Q(ended_at=None),
                name="one_running_enrolment",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, due_at__isnull=False)
                | Q(ended_at__isnull=False, due_at=None),
                name="running_enrolment_is_due",
            ),
        )
        indexes = (
            models.Index(
                fields=("series", "due_at"),
                condition=Q(due_at__isnull=False),
                name="enrolment_due",
            ),
            models.Index(
                fields=("series", "state", "version", "position", "exit_reason"),
                name="enrolment_figures",
            ),
            models.Index(
                fields=("series", "-id"), condition=~Q(problem=""), name="enrolment_delayed"
            ),
            models.Index(
                fields=("ended_at",),
                condition=Q(ended_at__isnull=False, results__gt=0),
                name="enrolment_to_forget",
            ),
        )

    def __str__(self) -> str:
        return f"enrolment {self.pk}"


class SeriesStepResult(models.Model):
    """A line of the history of an enrolment: the result of a step."""

    enrolment = models.ForeignKey(SeriesEnrolment, on_delete=models.CASCADE, related_name="history")
    number = models.PositiveIntegerField()
    position = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(
        max_length=8, choices=[(each.value, each.value) for each in StepOutcome]
    )
    notification_id = models.UUIDField(null=True)
    detail = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField()

    class Meta:
        """A partial index finds the latest rejected messages."""

        app_label = "notifications"
        db_table = "series_step_result"
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("enrolment", "number"), name="one_step_result"),
        )
        indexes = (
            models.Index(fields=("-id",), condition=Q(outcome="rejected"), name="step_rejected"),
        )

    def __str__(self) -> str:
        return f"{self.position}: {self.outcome}"


class CustomEvent(models.Model):
    """An event of a recipient that a producer posted. The sweep `series` handles each row once.

    A row with an exception is tried again at `due_at`.
    """

    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="+")
    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    recipient = models.ForeignKey(Recipient, on_delete=models.CASCADE, related_name="+")
    user_id = models.CharField(max_length=128)
    name = models.CharField(max_length=64)
    properties = models.JSONField(default=dict, db_default={})
    occurred_at = models.DateTimeField(help_text="As the producer says.")
    received_at = models.DateTimeField()
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)  # noqa: DJ001 - null: no key, outside the unique index
    handled = models.BooleanField(default=False, db_default=False)
    due_at = models.DateTimeField(
        null=True, help_text="Next try after an exception; null: the row is due at once."
    )

    class Meta:
        """Indexes by recipient and name, and of rows that the sweep has to handle."""

        app_label = "notifications"
        db_table = "custom_event"
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("producer", "mode", "idempotency_key"),
                condition=Q(idempotency_key__isnull=False),
                name="one_custom_event",
            ),
        )
        indexes = (
            models.Index(fields=("recipient", "name", "received_at"), name="custom_event_found"),
            models.Index(fields=("id",), condition=Q(handled=False), name="custom_event_unhandled"),
        )

    def __str__(self) -> str:
        return self.name
