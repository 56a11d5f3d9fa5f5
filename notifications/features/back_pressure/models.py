"""The limits of the lag of a channel's P3 lane, which operators edit."""

from __future__ import annotations

from django.core.validators import MinValueValidator
from django.db import models

from notifications.core.models.choices import CHANNELS
from notifications.features.back_pressure import rules

_DEFAULTS = rules.DEFAULTS


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
        app_label = "notifications"
        db_table = "lag_limits"
        verbose_name = "lag limits"
        verbose_name_plural = "lag limits"

    def __str__(self) -> str:
        return f"P3 {self.get_channel_display()}"
