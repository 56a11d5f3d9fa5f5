"""Small tables that keep the big ones honest."""

from __future__ import annotations

from django.db import models

from notifications.models.choices import MODES


class IdempotencyKey(models.Model):
    """The first answer to a key, for 24 hours.

    Not partitioned: a key must be unique over all days.
    """

    pk = models.CompositePrimaryKey("producer_id", "mode", "key")
    producer_id = models.BigIntegerField()
    mode = models.SmallIntegerField(choices=MODES)
    key = models.CharField(max_length=255)
    body_hash = models.BinaryField(max_length=16)
    response = models.JSONField()
    expires_at = models.DateTimeField()

    class Meta:
        """Swept by `expires_at`."""

        db_table = "idempotency_key"
        indexes = (models.Index(fields=("expires_at",), name="idempotency_key_expiry"),)

    def __str__(self) -> str:
        """The key as its producer gave it."""
        return self.key


class ReceivedText(models.Model):
    """The id of a STOP or START that was received, so that a repeat changes nothing."""

    pk = models.CompositePrimaryKey("provider", "message_id")
    provider = models.CharField(max_length=32)
    message_id = models.CharField(max_length=255)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """Swept by `received_at`."""

        db_table = "received_text"
        indexes = (models.Index(fields=("received_at",), name="received_text_age"),)

    def __str__(self) -> str:
        """The id as its provider gave it."""
        return self.message_id


class Rejected(models.Model):
    """A request that was refused for what it said: kept for operators, bounded, never retried."""

    at = models.DateTimeField(auto_now_add=True)
    producer_id = models.BigIntegerField()
    user_id = models.CharField(max_length=128, blank=True)
    type = models.CharField(max_length=64, blank=True)
    problem = models.CharField(max_length=64, help_text="The problem's type.")
    detail = models.CharField(max_length=500)
    pointers = models.JSONField(default=list, help_text="Where in the body, as JSON pointers.")

    class Meta:
        """Newest first."""

        ordering = ("-id",)
        verbose_name_plural = "rejected requests"

    def __str__(self) -> str:
        """What was wrong."""
        return self.problem


class SweepRun(models.Model):
    """When each sweep last began and ended.

    The guard against two beats and the sign that one is dead.
    """

    name = models.CharField(max_length=32, primary_key=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    running_since = models.DateTimeField(
        null=True, help_text="When the first run began that has not ended; empty while none runs."
    )
    moved = models.IntegerField(default=0, help_text="Rows that the last run changed.")
    failed = models.IntegerField(
        default=0, help_text="Rows that raised an exception in the last run; the log says which."
    )

    def __str__(self) -> str:
        """Its name."""
        return self.name
