"""Retry presets, edited in the admin and read by every process every second."""

from __future__ import annotations

from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from notifications.core.rules.retries import Jitter

_JITTERS: Final = [
    (Jitter.NONE.value, "none: the delay"),
    (Jitter.THIRD.value, "third: the delay + 0 to 30 %"),
    (Jitter.DOUBLE.value, "double: the delay + 0 to 100 %"),
    (Jitter.SECOND.value, "second: the delay + 0 to 1 s"),
    (Jitter.FULL.value, "full: 0 to the delay"),
]
_MOST_ATTEMPTS: Final = 200
_LONGEST_WAIT_S: Final = 86_400.0


class RetryPreset(models.Model):
    """A retry policy: delay = min(cap, jittered(base x multiplier ^ n))."""

    name = models.SlugField(max_length=16, primary_key=True)
    base_seconds = models.FloatField(
        validators=[MinValueValidator(0.1), MaxValueValidator(_LONGEST_WAIT_S)],
        help_text="Delay of the first retry, before the jitter.",
    )
    multiplier = models.FloatField(
        validators=[MinValueValidator(1), MaxValueValidator(10)],
        help_text="Factor between two consecutive delays.",
    )
    cap_seconds = models.FloatField(
        validators=[MinValueValidator(0.1), MaxValueValidator(_LONGEST_WAIT_S)],
        help_text="No delay is longer, jitter included. A provider's own Retry-After can be.",
    )
    attempts = models.PositiveSmallIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(_MOST_ATTEMPTS)],
        help_text="Provider calls in all, the first included. A throttled call, a failed probe and"
        " a call that did not begin do not count.",
    )
    jitter = models.CharField(max_length=8, choices=_JITTERS)
    drops = models.BooleanField(
        default=False,
        db_default=False,
        help_text="When every attempt failed, give up without a dead letter.",
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
