"""Erasure: the jobs that remove what is known of a person."""

from __future__ import annotations

from django.db import models

from notifications.models.choices import MODES


class ErasureJob(models.Model):
    """One erasure. It holds neither user id nor address: the row stays as evidence."""

    mode = models.SmallIntegerField(choices=MODES)
    recipient_id = models.BigIntegerField(help_text="The row that was removed.")
    requested_by = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True)
    notifications = models.IntegerField(default=0, help_text="Notifications removed so far.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Newest first; unfinished ones are found by their index."""

        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(finished_at=None),
                name="erasure_job_unfinished",
            ),
        )

    def __str__(self) -> str:
        """Its number."""
        return f"erasure {self.pk}"
