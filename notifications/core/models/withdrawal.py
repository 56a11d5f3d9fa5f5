"""Withdrawals that wait for their provider call."""

from __future__ import annotations

from django.db import models


class Withdrawal(models.Model):
    """A shown push that its device is to remove. The row is deleted when the withdrawal ends.

    The events of the notification keep the history (`rules.reasons`), so no row needs retention.
    """

    delivery_id = models.UUIDField(primary_key=True)
    due_at = models.DateTimeField(help_text="Time of the next try; a claim moves the time.")
    ends_at = models.DateTimeField(help_text="End of the tries.")
    failures = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Failed provider calls."
    )
    slot_at = models.DateTimeField(
        null=True, help_text="Reserved send time in the provider's bucket."
    )

    class Meta:
        """Due withdrawals by time."""

        db_table = "withdrawal"
        indexes = (models.Index(fields=("due_at",), name="withdrawal_due"),)

    def __str__(self) -> str:
        return f"withdrawal of {self.delivery_id}"
