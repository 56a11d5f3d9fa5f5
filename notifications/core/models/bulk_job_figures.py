"""Counts of bulk jobs by variant, and samples of their progress."""

from __future__ import annotations

from django.db import models

from notifications.core.models.bulk_job import BulkJob


class BulkJobFigure(models.Model):
    """A count of the deliveries of a bulk job and variant.

    The roll-ups add the events of the change feed, each once. The job is not a constraint in the
    database: its check would wait for the lock of the job.
    """

    pk = models.CompositePrimaryKey("job", "variant", "kind", "name")
    job = models.ForeignKey(
        BulkJob,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="figures",
    )
    variant = models.CharField(max_length=32, blank=True)
    kind = models.CharField(max_length=8, help_text="total or status")
    name = models.CharField(
        max_length=16, help_text="total: the counted events. status: the present status."
    )
    count = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "bulk_job_figure"

    def __str__(self) -> str:
        return f"{self.name} of bulk job {self.job_id}"


class BulkJobSample(models.Model):
    """The progress of a bulk job at a time, for the rate."""

    job = models.ForeignKey(
        BulkJob,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="samples",
    )
    at = models.DateTimeField()
    examined = models.BigIntegerField(help_text="Recipients of the audience.")
    accepted = models.BigIntegerField(help_text="Notifications.")
    sent = models.BigIntegerField(help_text="Deliveries that a provider accepted.")

    class Meta:
        """One sample of a job at a time."""

        db_table = "bulk_job_sample"
        constraints = (models.UniqueConstraint(fields=("job", "at"), name="one_bulk_job_sample"),)
        indexes = (models.Index(fields=("at",), name="bulk_job_sample_age"),)

    def __str__(self) -> str:
        return f"progress of bulk job {self.job_id} at {self.at}"
