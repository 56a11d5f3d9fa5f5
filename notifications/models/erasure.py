"""Erasure jobs, which remove a person's data."""

from __future__ import annotations

from django.db import models

from notifications.models.choices import MODES


class ErasureJob(models.Model):
    """An erasure. The row stays as evidence, so the row has neither user id nor address."""

    mode = models.SmallIntegerField(choices=MODES)
    recipient_id = models.BigIntegerField(help_text="Primary key of the removed recipient.")
    requested_by = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True)
    notifications = models.IntegerField(default=0, help_text="Notifications removed so far.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """A partial index finds unfinished jobs."""

        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(finished_at=None),
                name="erasure_job_unfinished",
            ),
        )

    def __str__(self) -> str:
        return f"erasure {self.pk}"
