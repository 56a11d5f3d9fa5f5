"""Schedules and occurrences of recurring notifications."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import MODES
from notifications.core.models.producer import Producer
from notifications.core.rules.lane import Mode
from notifications.core.rules.schedule_limits import MAX_RULE_LENGTH


class Schedule(models.Model):
    """A recurring notification.

    At `due_at` the occurrence `next_local` becomes a notification, a day before the planned time.
    Without `due_at` the schedule is paused or over.
    """

    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="schedules")
    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    name = models.CharField(max_length=100)
    rrule = models.CharField(max_length=MAX_RULE_LENGTH)
    timezone = models.CharField(
        max_length=64, blank=True, help_text="Empty: the recipient's timezone at each occurrence."
    )
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(null=True, blank=True)
    paused = models.BooleanField(default=False, db_default=False)
    request = models.JSONField(help_text="The notification as requested by the producer.")
    secrets = models.BinaryField(
        null=True, help_text="Encrypted values of variables declared sensitive later."
    )
    sealed_names = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        help_text="The variables in secrets.",
    )
    next_local = models.CharField(
        max_length=19, blank=True, help_text="Local time in the schedule's timezone."
    )
    due_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(
        max_length=300, blank=True, help_text="The error which prevents the next occurrence."
    )
    retry_at = models.DateTimeField(
        null=True, blank=True, help_text="When a schedule with a problem is tried again."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """A name is unique per producer and mode."""

        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("producer", "mode", "name"), name="one_schedule"),
        )
        indexes = (
            models.Index(
                fields=("due_at",), condition=Q(due_at__isnull=False), name="schedule_due"
            ),
        )

    def __str__(self) -> str:
        return self.name


class Occurrence(models.Model):
    """An occurrence of a schedule: the notification, or the reason for a missing notification."""

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="occurrences")
    local_at = models.CharField(max_length=19)
    at = models.DateTimeField()
    notification_id = models.UUIDField(null=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        """A local time occurs once, whatever the timezone."""

        ordering = ("-at",)
        constraints = (
            models.UniqueConstraint(fields=("schedule", "local_at"), name="occurs_once"),
        )
        indexes = (models.Index(fields=("at",), name="occurrence_by_age"),)

    def __str__(self) -> str:
        return self.local_at
