"""Status webhooks: a producer's endpoints, the messages to them, and the calls."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import MODES, STATUSES
from notifications.core.models.producer import Producer
from notifications.core.rules.webhook_events import EndpointState, MessageState, RetryPreset


class WebhookEndpoint(models.Model):
    """A URL of a producer that learns of status changes.

    The endpoint without a URL takes the messages to the `webhook_url` of the producer's requests.
    Signing secrets are derived from the encryption keys, the id and the version.
    """

    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="webhooks")
    mode = models.SmallIntegerField(choices=MODES)
    url = models.CharField(
        max_length=2048, blank=True, help_text="Empty: the webhook_url of each request."
    )
    events = ArrayField(
        models.CharField(max_length=32),
        default=list,
        db_default=[],
        blank=True,
        help_text="Event types, such as notification.failed. Empty: all.",
    )
    preset = models.CharField(
        max_length=16,
        choices=[(each.value, each.value) for each in RetryPreset],
        default=RetryPreset.STANDARD.value,
        db_default=RetryPreset.STANDARD.value,
        help_text="standard: retries for about 24 hours. brief: three retries within 7 seconds.",
    )
    state = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in EndpointState],
        default=EndpointState.ACTIVE.value,
        db_default=EndpointState.ACTIVE.value,
        help_text="active: messages leave. paused: messages wait. disabled: none are made.",
    )
    state_reason = models.CharField(max_length=200, blank=True)
    state_since = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Failed calls since the last successful call."
    )
    failing_since = models.DateTimeField(null=True, blank=True)
    secret_version = models.PositiveSmallIntegerField(default=1, db_default=1)
    previous_secret_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then the previous secret signs as well."
    )
    replay_since = models.DateTimeField(
        null=True, blank=True, help_text="Start of the replay that runs; empty without a replay."
    )
    replay_xid = models.BigIntegerField(
        default=0, db_default=0, help_text="Position of the replay."
    )
    replay_seq = models.BigIntegerField(default=0, db_default=0)
    replay_end = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="Transaction at which the replay ends: later changes come anyway.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "webhook_endpoint"
        ordering = ("producer", "mode", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("producer", "mode"),
                condition=Q(url=""),
                name="webhook_endpoint_of_requests",
            ),
        )

    def __str__(self) -> str:
        return self.url or "webhook_url of requests"


class WebhookMessage(models.Model):
    """A message to an endpoint. The id is the `webhook-id` of all calls.

    The body is built from the notification when a call begins, so the row holds no personal data.
    `due_at` is the time of the next call, and the end of the lease while a call runs; a row without
    it is final.
    """

    id = models.UUIDField(primary_key=True)
    endpoint_id = models.BigIntegerField()
    url = models.CharField(max_length=2048, blank=True, help_text="Empty: the endpoint's URL.")
    type = models.CharField(max_length=32)
    notification_id = models.UUIDField(null=True)
    delivery_id = models.UUIDField(null=True)
    contact_id = models.BigIntegerField(
        null=True, help_text="The contact of contact.invalidated; empty in other messages."
    )
    bulk_job_id = models.UUIDField(
        null=True, help_text="The job of bulk_job.*; empty in other messages."
    )
    status = models.SmallIntegerField(choices=STATUSES, null=True)
    reason = models.CharField(max_length=300, blank=True)
    occurred_at = models.DateTimeField()
    state = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in MessageState],
        default=MessageState.WAITING.value,
        db_default=MessageState.WAITING.value,
    )
    due_at = models.DateTimeField(null=True)
    claim_token = models.UUIDField(null=True)
    attempts = models.SmallIntegerField(
        default=0, db_default=0, help_text="Calls of the current budget."
    )
    calls = models.SmallIntegerField(default=0, db_default=0, help_text="Calls ever.")
    created_at = models.DateTimeField()

    class Meta:
        """Indexes for due rows, for calls in flight, for retention, and for erasures."""

        db_table = "webhook_message"
        indexes = (
            models.Index(
                fields=("endpoint_id", "due_at"),
                condition=Q(due_at__isnull=False),
                name="webhook_message_due",
            ),
            models.Index(
                fields=("endpoint_id",),
                condition=Q(claim_token__isnull=False),
                name="webhook_message_in_flight",
            ),
            models.Index(fields=("created_at",), name="webhook_message_age"),
            models.Index(
                fields=("contact_id",),
                condition=Q(contact_id__isnull=False),
                name="webhook_message_of_contact",
            ),
        )

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class WebhookAttempt(models.Model):
    """A call of an endpoint."""

    message_id = models.UUIDField()
    number = models.SmallIntegerField()
    endpoint_id = models.BigIntegerField()
    started_at = models.DateTimeField()
    latency_ms = models.IntegerField()
    http_status = models.SmallIntegerField(null=True, help_text="Empty without an HTTP answer.")
    error = models.CharField(
        max_length=64, blank=True, help_text="Why no answer came, such as timeout."
    )
    response = models.CharField(
        max_length=200, blank=True, help_text="Beginning of the answer's body."
    )

    class Meta:
        """Indexes for the calls of an endpoint, and for retention."""

        db_table = "webhook_attempt"
        indexes = (
            models.Index(fields=("endpoint_id", "-id"), name="webhook_attempt_of_endpoint"),
            models.Index(fields=("message_id",), name="webhook_attempt_of_message"),
            models.Index(fields=("started_at",), name="webhook_attempt_age"),
        )

    def __str__(self) -> str:
        return f"call {self.number} of {self.message_id}"


class WebhookPosition(models.Model):
    """The place in the change feed up to which messages are made: one row."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    xid = models.BigIntegerField()
    seq = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "webhook_position"

    def __str__(self) -> str:
        return f"transaction {self.xid}, event {self.seq}"
