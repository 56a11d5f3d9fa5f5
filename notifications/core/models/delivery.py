"""Deliveries to contacts, provider calls, and the timeline."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Cast

from notifications.core.models.choices import CHANNELS, MODES, PRIORITIES, STATUSES
from notifications.core.rules import ids
from notifications.core.rules.reasons import RECIPIENTS_HOLDS
from notifications.core.rules.switches import REASONS


class Delivery(models.Model):
    """The delivery of a notification to a contact. Partitioned by day on `id`.

    `due_at` is the time at which a sweep must process the row if nothing else has happened; a row
    without `due_at` is final. The sweep after a crash needs no index but `delivery_due`.
    """

    id = models.UUIDField(primary_key=True)
    mode = models.SmallIntegerField(choices=MODES)
    priority = models.SmallIntegerField(choices=PRIORITIES)
    channel = models.SmallIntegerField(choices=CHANNELS)
    status = models.SmallIntegerField(choices=STATUSES)
    due_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=64, blank=True, help_text="Reason of the status.")
    recipient_id = models.BigIntegerField()
    contact_id = models.BigIntegerField(null=True, help_text="None until a schedule is released.")
    provider = models.CharField(max_length=32, blank=True)
    provider_message_id = models.CharField(max_length=255, blank=True)
    publishes = models.SmallIntegerField(
        default=0, db_default=0, help_text="Number of publications of the id to the broker."
    )
    published_at = models.DateTimeField(null=True)
    claims = models.SmallIntegerField(
        default=0, db_default=0, help_text="Consecutive claims without a result."
    )
    claim_token = models.UUIDField(null=True)
    call_started_at = models.DateTimeField(null=True)
    attempts = models.SmallIntegerField(default=0, db_default=0, help_text="Provider calls ever.")
    attempts_before = models.SmallIntegerField(
        default=0,
        db_default=0,
        help_text="Calls before the last replay, outside the replay's attempt budget.",
    )
    resent = models.BooleanField(
        default=False, db_default=False, help_text="Resent once after an unanswered call."
    )
    generation = models.SmallIntegerField(
        default=0,
        db_default=0,
        help_text="Part of the provider's key; raised by a replay after a rejection.",
    )
    slot_provider = models.CharField(max_length=32, blank=True, db_default="")
    slot_at = models.DateTimeField(
        null=True,
        help_text="Reserved send time in the provider's bucket; the next call uses the slot.",
    )
    switch_id = models.BigIntegerField(
        null=True,
        help_text="The switch of the last hold by a switch.",
    )
    budget_id = models.BigIntegerField(
        null=True,
        help_text="The budget of the last hold by a budget.",
    )
    falls_back = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Member of a fallback chain: the next channel follows a failure.",
    )
    sent_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        """Indexes for due rows, held rows, unknown rows, and the provider's message id."""

        db_table = "delivery"
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(
                fields=("status", "mode", "priority", "channel", "due_at"),
                condition=Q(due_at__isnull=False),
                name="delivery_due",
            ),
            models.Index(
                Func(
                    F("provider_message_id"),
                    Value(0),
                    function="hashtextextended",
                    output_field=models.BigIntegerField(),
                ),
                condition=~Q(provider_message_id=""),
                name="delivery_by_message_hash",
            ),
            models.Index(
                fields=("switch_id", "priority", "due_at"),
                condition=Q(reason__in=[each.value for each in REASONS]),
                name="delivery_switched",
            ),
            models.Index(
                fields=("budget_id", "priority", "due_at"),
                condition=Q(reason="budget"),
                name="delivery_budget",
            ),
            models.Index(
                fields=("recipient_id", "id"),
                condition=Q(reason__in=[each.value for each in RECIPIENTS_HOLDS]),
                name="delivery_held",
            ),
            models.Index(fields=("id",), condition=Q(status=14), name="delivery_unknown"),
            models.Index(
                fields=("id",),
                condition=Q(due_at__isnull=True, status__in=[1, 2, 3, 4]),
                name="delivery_without_due",
            ),
        )

    def __str__(self) -> str:
        return str(self.id)

    @property
    def notification_id(self) -> uuid.UUID:
        """Return the id of the notification, computed from the delivery's id."""
        return ids.notification_of(self.id)


class Attempt(models.Model):
    """A provider call, identified by the delivery and the number of the call."""

    pk = models.CompositePrimaryKey("delivery_id", "number")
    delivery_id = models.UUIDField()
    number = models.SmallIntegerField()
    provider = models.CharField(max_length=32)
    outcome = models.CharField(max_length=16, help_text="The outcome's name, in lower case.")
    code = models.CharField(max_length=64, blank=True)
    detail = models.CharField(max_length=500, blank=True, help_text="Redacted and cut.")
    started_at = models.DateTimeField()
    latency_ms = models.IntegerField()
    segments = models.SmallIntegerField(
        null=True,
        help_text="SMS segments by the provider's count, or else computed; empty for other"
        " channels.",
    )
    http_status = models.SmallIntegerField(
        null=True, help_text="Of the provider's answer; empty where no HTTP answer came."
    )
    retry_after_s = models.IntegerField(
        null=True, help_text="Retry-After of the provider in seconds; empty without one."
    )
    signed_with = models.CharField(
        max_length=96,
        blank=True,
        db_default="",  # a worker of an older release writes no such column
        help_text="Web Push: the public VAPID key of the call.",
    )
    country = models.CharField(
        max_length=2,
        blank=True,
        db_default="",  # as above
        help_text="Country of an SMS number, such as DE, or on other channels a guess by the"
        " recipient's timezone or locale; empty if unknown.",
    )
    cost_micros = models.BigIntegerField(
        null=True,
        help_text="Estimated price of an accepted or unanswered call in millionths of a US dollar;"
        " empty: free.",
    )
    reserved_at = models.DateTimeField(
        null=True, help_text="The time that chose the day of the call's budgets; empty: no budget."
    )
    settled_micros = models.BigIntegerField(
        null=True,
        help_text="Price by the provider's receipt in millionths of a US dollar; empty: no receipt"
        " with a price has come.",
    )
    settled_at = models.DateTimeField(
        null=True, help_text="The time of the event that settled the cost."
    )
    answered_at = models.DateTimeField(
        null=True,
        help_text="The time of the answer of a call that counted as unanswered before; empty"
        " otherwise.",
    )

    class Meta:
        """Partitioned by day on `delivery_id`."""

        db_table = "attempt"

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"

    @property
    def final_micros(self) -> int | None:
        """Microdollars by the receipt, or else the estimate of an accepted call; None: free."""
        if self.settled_micros is not None:
            return self.settled_micros
        return self.cost_micros if self.outcome == "accepted" else None

    @property
    def cost_basis(self) -> str | None:
        """`settled` by a receipt, or `estimated` by the price list; None: without a cost."""
        if self.settled_micros is not None:
            return "settled"
        return None if self.final_micros is None else "estimated"


class Event(models.Model):
    """An event of a notification's timeline. `seq`, from a sequence, gives the order.

    Django needs a primary key. The table has none: an index with equal keys is much smaller.
    """

    pk = models.CompositePrimaryKey("notification_id", "seq")
    notification_id = models.UUIDField()
    seq = models.BigIntegerField()
    delivery_id = models.UUIDField(null=True)
    status = models.SmallIntegerField(choices=STATUSES, null=True)
    reason = models.CharField(max_length=64, blank=True)
    detail = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()
    occurred_at = models.DateTimeField(
        null=True,
        help_text="Receipts: the time that the provider or the app gave; empty without one.",
    )
    xid = models.BigIntegerField(
        null=True,
        db_default=Cast(
            Cast(Func(function="pg_current_xact_id"), models.TextField()), models.BigIntegerField()
        ),
        help_text=(
            "Transaction of the insert, for the change feed; empty in events of earlier releases."
        ),
    )

    claimed_at = models.DateTimeField(
        null=True,
        help_text="The time at which the delivery became sending, in the event after sending.",
    )

    class Meta:
        """Partitioned by day on `notification_id`. The index on `xid` is for the change feed."""

        db_table = "event"
        indexes = (
            models.Index(fields=("notification_id",), name="event_of_notification"),
            models.Index(
                fields=("xid",), condition=Q(xid__isnull=False), name="event_of_transaction"
            ),
        )

    def __str__(self) -> str:
        return f"event {self.seq} of {self.notification_id}"
