"""Lag of lanes, and the limits of lag that operators edit."""

from __future__ import annotations

from django.core.validators import MinValueValidator
from django.db import models

from notifications.models.choices import CHANNELS, MODES, PRIORITIES
from notifications.rules import back_pressure
from notifications.rules.lane import Lane

_DEFAULTS = back_pressure.DEFAULTS


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


class LagLimits(models.Model):
    """The limits of the lag of a channel's P3 lane. A channel without a row has the defaults."""

    channel = models.SmallIntegerField(choices=CHANNELS, unique=True)
    refuse_waiting = models.PositiveBigIntegerField(
        default=_DEFAULTS.refuse_waiting,
        db_default=_DEFAULTS.refuse_waiting,
        validators=[MinValueValidator(1)],
        help_text="Above so many waiting P3 deliveries, new P3 posts get 429.",
    )
    refuse_behind_seconds = models.PositiveIntegerField(
        default=int(_DEFAULTS.refuse_behind.total_seconds()),
        db_default=int(_DEFAULTS.refuse_behind.total_seconds()),
        validators=[MinValueValidator(1)],
        help_text="Also when the oldest waits longer than so many seconds.",
    )
    drop_waiting = models.PositiveBigIntegerField(
        default=_DEFAULTS.drop_waiting,
        db_default=_DEFAULTS.drop_waiting,
        validators=[MinValueValidator(1)],
        help_text="Above so many waiting P3 deliveries, stale ones are dropped.",
    )
    drop_behind_seconds = models.PositiveIntegerField(
        default=int(_DEFAULTS.drop_behind.total_seconds()),
        db_default=int(_DEFAULTS.drop_behind.total_seconds()),
        validators=[MinValueValidator(1)],
        help_text="Also when the oldest waits longer than so many seconds.",
    )
    drop_older_seconds = models.PositiveIntegerField(
        default=int(_DEFAULTS.drop_older.total_seconds()),
        db_default=int(_DEFAULTS.drop_older.total_seconds()),
        validators=[MinValueValidator(1)],
        help_text="A P3 delivery is stale when it could leave for longer than so many seconds.",
    )

    class Meta:
        db_table = "lag_limits"
        verbose_name = "lag limits"
        verbose_name_plural = "lag limits"

    def __str__(self) -> str:
        return f"P3 {self.get_channel_display()}"
