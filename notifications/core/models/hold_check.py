"""Hold checks: recipients whose held deliveries a sweep compares with their settings."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class HoldCheck(models.Model):
    """A recipient with a changed timezone, quiet hours, do-not-disturb, caps or digest choices.

    Triggers of the recipient and of the preference insert the row, so that no door can leave it
    out. The sweep deletes the row after two checks: a worker can store a hold by the former
    settings some seconds after the change.
    """

    recipient_id = models.BigIntegerField(primary_key=True)
    changed_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(db_default=Now(), help_text="Time of the next check.")
    checked_to = models.UUIDField(
        null=True, help_text="Last delivery of a check that goes on in the next run."
    )

    class Meta:
        """The index serves the sweep."""

        db_table = "hold_check"
        indexes = (models.Index(fields=("due_at",), name="hold_check_due"),)

    def __str__(self) -> str:
        return f"hold check of recipient {self.recipient_id}"
