"""Circuit breakers: operators' overrides, events, and rate limits of providers.

The state Redis has the current state of a breaker (`store.rate_limits.circuit_breakers`).
"""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from notifications.core.models.choices import CHANNELS
from notifications.core.rules.rate_limits.circuit_breaker import BreakerOverride

FORCED = [
    (BreakerOverride.AUTO.value, "auto"),
    *((each.value, each.value) for each in BreakerOverride if each),
]


class Breaker(models.Model):
    """The breaker of a provider and channel, after the first trip or override."""

    provider = models.CharField(max_length=32)
    channel = models.SmallIntegerField(choices=CHANNELS)
    forced = models.CharField(max_length=8, choices=FORCED, blank=True)
    trips = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Number of automatic openings."
    )
    probes = models.PositiveIntegerField(default=0, db_default=0)
    closes = models.PositiveIntegerField(default=0, db_default=0)

    class Meta:
        ordering = ("provider", "channel")
        constraints = (models.UniqueConstraint(fields=("provider", "channel"), name="one_breaker"),)

    def __str__(self) -> str:
        return f"{self.provider} {self.get_channel_display()}"


class BreakerEvent(models.Model):
    """An event of a breaker, for operators. The number of rows is bounded."""

    class Kind(models.TextChoices):
        """Kind of event."""

        TRIPPED = "tripped"
        PROBED = "probed"
        CLOSED = "closed"
        FORCED_OPEN = "forced open"
        FORCED_CLOSED = "forced closed"
        AUTO = "back to auto"

    at = models.DateTimeField(auto_now_add=True)
    provider = models.CharField(max_length=32)
    channel = models.SmallIntegerField(choices=CHANNELS)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    detail = models.CharField(max_length=200, blank=True, help_text="Reason, or the operator.")

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.provider} {self.get_channel_display()} {self.kind}"


class ProviderPace(models.Model):
    """An operator's rate limit for a provider, which replaces the adapter's limit at once."""

    provider = models.CharField(max_length=32, unique=True)
    burst = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text="Burst: messages permitted at once after a pause.",
    )
    per_second = models.FloatField(
        validators=[MinValueValidator(0.01), MaxValueValidator(1_000_000)],
        help_text="Messages per second after the burst; P2 and P3 together get at most 80 %.",
    )

    class Meta:
        ordering = ("provider",)

    def __str__(self) -> str:
        return self.provider
