"""The lag of lanes."""

from __future__ import annotations

from django.db import models

from notifications.core.models.choices import CHANNELS, MODES, PRIORITIES
from notifications.core.rules.lane import Lane


class LaneLag(models.Model):
    """The newest sample of a lane's lag, and the effects of back-pressure on the lane.

    The sweep `lane_lag` writes the rows of all lanes that ever had due deliveries.
    """

    mode = models.SmallIntegerField(choices=MODES)
    priority = models.SmallIntegerField(choices=PRIORITIES)
    channel = models.SmallIntegerField(choices=CHANNELS)
    waiting = models.BigIntegerField(
        default=0, db_default=0, help_text="Due deliveries without a claim."
    )
    is_estimate = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Over 100,000 wait, and the number is from a sample of the table.",
    )
    behind_ms = models.BigIntegerField(
        default=0, db_default=0, help_text="Time since the oldest of them could leave."
    )
    sampled_at = models.DateTimeField()
    refuses_since = models.DateTimeField(
        null=True, blank=True, help_text="New P3 posts get 429 since this time; empty: accepted."
    )
    retry_after_seconds = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Retry-After of the 429 answers, without the jitter."
    )
    drops_since = models.DateTimeField(
        null=True, blank=True, help_text="Stale P3 are dropped since this time; empty: kept."
    )
    dropped = models.BigIntegerField(
        default=0, db_default=0, help_text="Stale deliveries dropped since then."
    )
    dropped_at = models.DateTimeField(null=True, blank=True, help_text="Time of the last drop.")
    examined_until = models.DateTimeField(
        null=True, blank=True, help_text="The drop goes on at this place of the queue."
    )

    class Meta:
        """One row for a lane."""

        db_table = "lane_lag"
        constraints = (
            models.UniqueConstraint(fields=("mode", "priority", "channel"), name="one_lane_lag"),
        )

    def __str__(self) -> str:
        return Lane.of(self.mode, self.priority, self.channel).name
