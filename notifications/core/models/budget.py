"""Budgets of a day, their ledgers, and the reservations of calls that are under way."""

from __future__ import annotations

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS
from notifications.core.models.producer import Producer

_FIRST_ALERT_PERCENT: Final = 80


class Budget(models.Model):
    """The most that the messages of a day may cost (see `features.money.rules`)."""

    producer = models.ForeignKey(
        Producer,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="budgets",
        help_text="Empty: all producers together.",
    )
    channel = models.SmallIntegerField(
        choices=CHANNELS, null=True, blank=True, help_text="Empty: all channels together."
    )
    amount_micros = models.BigIntegerField(
        "microdollars a day",
        validators=[MinValueValidator(0)],
        help_text="Millionths of a US dollar: 5000000 is $5.",
    )
    alert_percent = models.PositiveSmallIntegerField(
        default=_FIRST_ALERT_PERCENT,
        db_default=_FIRST_ALERT_PERCENT,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Share of the amount at which the first alert of a day is raised.",
    )
    is_hard = models.BooleanField(
        "hard",
        default=True,
        db_default=True,
        help_text="Above the amount P3 by SMS goes by e-mail or waits, P2 and other P3 wait, P0 and"
        " P1 go on. Otherwise alerts alone are raised.",
    )
    timezone = models.CharField(
        max_length=64,
        default="UTC",
        db_default="UTC",
        help_text="A day begins at midnight of this timezone.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One budget for a producer and channel."""

        db_table = "budget"
        ordering = ("producer", "channel")
        constraints = (
            models.UniqueConstraint(
                fields=("producer", "channel"), name="one_budget", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(amount_micros__gte=0), name="budget_is_not_negative"
            ),
        )

    def __str__(self) -> str:
        whose = self.producer.name if self.producer else "overall"
        return f"{whose} {self.get_channel_display() if self.channel else 'all channels'}"


class BudgetDay(models.Model):
    """The ledger of a budget and a day: the reserved and the spent money."""

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="days")
    day = models.DateField(help_text="In the timezone of the budget.")
    used_micros = models.BigIntegerField(default=0, db_default=0, help_text="Reserved and spent.")
    refused_micros = models.BigIntegerField(
        null=True, help_text="Price of the last call that was refused; empty: none was."
    )
    nearly_spent_alert_at = models.DateTimeField(null=True)
    spent_alert_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "budget_day"
        constraints = (models.UniqueConstraint(fields=("budget", "day"), name="one_ledger_a_day"),)

    def __str__(self) -> str:
        return f"{self.budget} on {self.day}"


class BudgetReservation(models.Model):
    """The money of a call that is under way; the outcome of the call deletes the row."""

    delivery_id = models.UUIDField(primary_key=True)
    token = models.UUIDField(help_text="Claim of the worker that makes the call.")
    micros = models.BigIntegerField(help_text="Estimated price, added to the ledgers.")
    settled_micros = models.BigIntegerField(
        null=True, help_text="Price by the outcome, not yet in the ledgers; empty: no outcome."
    )
    ledgers = ArrayField(models.BigIntegerField())
    created_at = models.DateTimeField()

    class Meta:
        """Short-lived rows: an index for the sweep is not needed."""

        db_table = "budget_reservation"

    def __str__(self) -> str:
        return f"reservation of {self.delivery_id}"


class ReceiptPrice(models.Model):
    """The price or the segments of a receipt; the settlement of the cost deletes the row."""

    pk = models.CompositePrimaryKey("delivery_id", "provider", "message_id")
    delivery_id = models.UUIDField()
    provider = models.CharField(max_length=32)
    message_id = models.CharField(max_length=500, blank=True, help_text="The provider's id.")
    segments = models.SmallIntegerField(null=True)
    micros = models.BigIntegerField(
        null=True, help_text="Millionths of a US dollar; empty: the segments decide."
    )
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text="The next look for the call.")

    class Meta:
        """Short-lived rows: a row is deleted at the latest after a day."""

        db_table = "receipt_price"
        indexes = (models.Index(fields=("due_at",), name="receipt_price_due"),)

    def __str__(self) -> str:
        return f"price of a receipt of {self.delivery_id}"
