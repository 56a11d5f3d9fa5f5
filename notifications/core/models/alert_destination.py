"""Destinations of alerts, and the notices to them."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q

from notifications.core.models.alert import Alert
from notifications.core.rules.alerts import Severity
from providers.alert_destinations.events import NoticeEvent


class AlertDestination(models.Model):
    """A place outside the installation that learns of alerts."""

    name = models.CharField(max_length=64, unique=True)
    secret = models.TextField(help_text="The URL, encrypted.")
    target = models.CharField(
        max_length=128, blank=True, help_text="Kind and host, without a secret."
    )
    fingerprint = models.CharField(
        max_length=32,
        blank=True,
        db_default="",
        help_text="Of a URL in NOTIFY_ALERT_URLS; empty for a destination of an operator.",
    )
    minimum_severity = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in Severity],
        default=Severity.TICKET.value,
        db_default=Severity.TICKET.value,
        help_text="page: urgent alerts only. ticket: all alerts.",
    )
    kinds = ArrayField(
        models.CharField(max_length=48),
        blank=True,
        default=list,
        db_default=[],
        help_text="Kinds of alerts. Empty: all kinds.",
    )
    owner = models.CharField(
        max_length=128, blank=True, help_text="Person or team that reads the destination."
    )
    is_active = models.BooleanField(default=True, db_default=True)
    failures = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Failed calls since the last successful call."
    )
    last_sent_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True, db_default="")
    last_error_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """A fingerprint is unique."""

        db_table = "alert_destination"
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                fields=("fingerprint",),
                condition=~Q(fingerprint=""),
                name="alert_destination_fingerprint",
            ),
        )

    def __str__(self) -> str:
        return self.name


class AlertNotice(models.Model):
    """A notice of an alert to a destination. A notice without `due_at` is final."""

    class State(models.TextChoices):
        """The states of a notice."""

        WAITING = "waiting", "waiting"
        SENT = "sent", "sent"
        FAILED = "failed", "failed"
        DROPPED = "dropped", "dropped"

    key = models.UUIDField(
        default=uuid.uuid4, db_default=RandomUUID(), help_text="The same at every try."
    )
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="notices")
    destination = models.ForeignKey(
        AlertDestination, on_delete=models.CASCADE, related_name="notices"
    )
    event = models.CharField(
        max_length=16, choices=[(each.value, each.value) for each in NoticeEvent]
    )
    number = models.PositiveIntegerField(default=0, db_default=0, help_text="Counts the reminders.")
    state = models.CharField(
        max_length=8, choices=State.choices, default=State.WAITING, db_default=State.WAITING
    )
    due_at = models.DateTimeField(null=True)
    claim_token = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        """Due notices by time; a notice exists once."""

        db_table = "alert_notice"
        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("due_at",), condition=Q(due_at__isnull=False), name="alert_notice_due"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("alert", "destination", "event", "number"), name="one_alert_notice"
            ),
        )

    def __str__(self) -> str:
        return f"{self.event} to {self.destination_id}"
