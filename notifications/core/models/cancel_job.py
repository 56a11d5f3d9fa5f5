"""Cancel jobs: requests to cancel many notifications."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from notifications.core.models.bulk_job import BulkJob
from notifications.core.models.choices import MODES, PRIORITIES
from notifications.core.models.producer import Producer
from notifications.core.rules.lane import Mode


class CancelJob(models.Model):
    """A request to cancel the notifications that match, processed by a sweep.

    The job goes through the notifications in the order of their ids, up to `until`, so later
    notifications do not join. An empty filter field matches all.
    """

    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    producer = models.ForeignKey(
        Producer, null=True, blank=True, on_delete=models.CASCADE, related_name="cancel_jobs"
    )
    notification_ids = ArrayField(models.UUIDField(), null=True, blank=True)
    bulk_job = models.ForeignKey(
        BulkJob, null=True, blank=True, on_delete=models.CASCADE, related_name="cancel_jobs"
    )
    type = models.CharField(max_length=64, blank=True)
    template_id = models.CharField(max_length=64, blank=True)
    priority = models.SmallIntegerField(choices=PRIORITIES, null=True, blank=True)
    metadata = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Names and values that the metadata must have.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    requested_by = models.CharField(max_length=150)
    after = models.UUIDField(help_text="Notifications up to this id are done.")
    first = models.UUIDField(help_text="Value of `after` at the start.")
    until = models.UUIDField(help_text="Last possible id.")
    cancelled = models.IntegerField(default=0, db_default=0, help_text="Cancelled notifications.")
    stopped = models.IntegerField(
        default=0, db_default=0, help_text="Deliveries that did not leave."
    )
    finished_at = models.DateTimeField(null=True, blank=True)
    is_stopped = models.BooleanField(
        default=False, db_default=False, help_text="An operator or producer stopped it."
    )

    class Meta:
        """A partial index finds unfinished jobs."""

        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(finished_at=None),
                name="cancel_job_unfinished",
            ),
        )

    def __str__(self) -> str:
        return f"cancel job {self.pk}"
