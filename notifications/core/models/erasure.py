"""Erasure jobs, which remove a person's data."""

from __future__ import annotations

from django.db import models

from notifications.core.models.choices import MODES


class ErasureJob(models.Model):
    """An erasure. The row stays as evidence, so the row has neither user id nor address."""

    mode = models.SmallIntegerField(choices=MODES)
    recipient_id = models.BigIntegerField(help_text="Primary key of the removed recipient.")
    requested_by = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True)
    notifications = models.IntegerField(
        default=0, db_default=0, help_text="Notifications removed so far."
    )
    contacts = models.IntegerField(default=0, db_default=0, help_text="Contacts removed.")
    dead_letters = models.IntegerField(
        default=0, db_default=0, help_text="Dead letters whose message was removed."
    )
    inbox_items = models.IntegerField(
        default=0, db_default=0, help_text="In-app messages removed from the inbox so far."
    )
    archive_keys = models.IntegerField(
        default=0, db_default=0, help_text="Archive keys deleted; 0: there was none."
    )
    receipt = models.JSONField(
        null=True, blank=True, help_text="Times, and counts for each place; written at the end."
    )
    receipt_signature = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="HMAC-SHA256 of the receipt.",
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """A partial index finds jobs without a receipt; the export looks for erased recipients."""

        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(receipt__isnull=True),
                name="erasure_job_without_receipt",
            ),
            models.Index(fields=("recipient_id",), name="erasure_job_by_recipient"),
        )

    def __str__(self) -> str:
        return f"erasure {self.pk}"
