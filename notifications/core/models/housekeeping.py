"""Tables for idempotency, repeated inbound SMS, rejected requests, sweep runs and the feed."""

from __future__ import annotations

from django.db import models

from notifications.core.models.choices import MODES


class IdempotencyKey(models.Model):
    """The first response for an idempotency key, kept for 24 hours.

    The table is not partitioned, because a key must be unique over all days.
    """

    pk = models.CompositePrimaryKey("producer_id", "mode", "key")
    producer_id = models.BigIntegerField()
    mode = models.SmallIntegerField(choices=MODES)
    key = models.CharField(max_length=255)
    body_hash = models.BinaryField(max_length=16)
    response = models.JSONField(null=True, help_text="Empty with a packed response.")
    packed_response = models.BinaryField(
        null=True,
        help_text="The response of an accepted notification, see rules/accepted_answer.py.",
    )
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "idempotency_key"
        indexes = (models.Index(fields=("expires_at",), name="idempotency_key_expiry"),)

    def __str__(self) -> str:
        return self.key


class ReceivedText(models.Model):
    """The id of a received STOP or START, so that a repeated callback changes nothing."""

    pk = models.CompositePrimaryKey("provider", "message_id")
    provider = models.CharField(max_length=32)
    message_id = models.CharField(max_length=255)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "received_text"
        indexes = (models.Index(fields=("received_at",), name="received_text_age"),)

    def __str__(self) -> str:
        return self.message_id


class Rejected(models.Model):
    """An invalid request, kept for operators and never retried. The number of rows is bounded."""

    at = models.DateTimeField(auto_now_add=True)
    producer_id = models.BigIntegerField()
    user_id = models.CharField(max_length=128, blank=True)
    type = models.CharField(max_length=64, blank=True)
    problem = models.CharField(max_length=64, help_text="The problem's type.")
    detail = models.CharField(max_length=500)
    pointers = models.JSONField(
        default=list, db_default=[], help_text="Where in the body, as JSON pointers."
    )

    class Meta:
        ordering = ("-id",)
        verbose_name = "rejected request"

    def __str__(self) -> str:
        return self.problem


class SweepRun(models.Model):
    """Start and end of the last run of a sweep.

    The row prevents concurrent runs by two beats, and an old start shows a stopped beat.
    """

    name = models.CharField(max_length=32, primary_key=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    running_since = models.DateTimeField(
        null=True, help_text="Start of the oldest unfinished run; empty without a running sweep."
    )
    moved = models.IntegerField(default=0, db_default=0, help_text="Rows changed by the last run.")
    failed = models.IntegerField(
        default=0,
        db_default=0,
        help_text="Rows with an exception in the last run; the log has their ids.",
    )

    def __str__(self) -> str:
        return self.name


class ChangeMark(models.Model):
    """The oldest open transaction at a time: every change of an older one was committed by then.

    `?since=` of the change feed begins at the last mark before the instant.
    """

    at = models.DateTimeField(primary_key=True)
    xid = models.BigIntegerField(help_text="Oldest transaction that was open at the time.")

    class Meta:
        db_table = "change_mark"

    def __str__(self) -> str:
        return f"transaction {self.xid} at {self.at}"
