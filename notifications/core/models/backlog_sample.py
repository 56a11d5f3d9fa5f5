"""Samples of the backlog, for alerts about depth and lag."""

from __future__ import annotations

from django.db import models


class BacklogSample(models.Model):
    """The backlog of a priority of live mode in a minute, over all channels."""

    at = models.DateTimeField(help_text="Start of the minute.")
    priority = models.SmallIntegerField()
    depth = models.IntegerField(help_text="Due deliveries without a worker, up to 10,000.")
    retrying = models.IntegerField(
        null=True,
        help_text="Deliveries that wait for a retry, up to 20,000; empty in samples of earlier"
        " releases.",
    )
    behind_ms = models.BigIntegerField(help_text="Time since the oldest due time.")

    class Meta:
        """One sample for a priority and a minute."""

        db_table = "backlog_sample"
        constraints = (
            models.UniqueConstraint(fields=("priority", "at"), name="one_backlog_sample"),
        )
        indexes = (models.Index(fields=("at",), name="backlog_sample_age"),)

    def __str__(self) -> str:
        return f"P{self.priority} at {self.at}"
