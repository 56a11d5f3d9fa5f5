"""Accepted calls without a receipt of the vendor yet."""

from __future__ import annotations

from django.db import models


class ReceiptLookup(models.Model):
    """An accepted call to ask the vendor about. The receipt, or a day, ends the row.

    A call that was settled twice can have two rows, because a repeated receipt changes nothing.
    """

    delivery_id = models.UUIDField()
    provider = models.CharField(max_length=32)
    message_id = models.CharField(max_length=500, help_text="Of the provider.")
    sent_at = models.DateTimeField(help_text="Time of the acceptance.")
    due_at = models.DateTimeField(help_text="Time of the next question; a claim moves the time.")

    class Meta:
        """Due lookups by time."""

        app_label = "notifications"
        db_table = "receipt_lookup"
        indexes = (models.Index(fields=("due_at",), name="receipt_lookup_due"),)

    def __str__(self) -> str:
        return f"receipt of {self.delivery_id}"
