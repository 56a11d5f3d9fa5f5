"""Routes to providers, read by every process every second."""

from __future__ import annotations

from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS
from notifications.core.rules.roles import permissions_of
from providers.contract import Channel

REGION: Final = r"^\+[1-9][0-9]{0,6}$"
"""The beginning of an E.164 number: a country code, or an area or network of a country."""


class ProviderRoute(models.Model):
    """A route of a channel to a provider; `rules.routing` has the selection.

    A channel without a matching row uses NOTIFY_ROUTES.
    """

    channel = models.SmallIntegerField(choices=CHANNELS)
    region = models.CharField(
        max_length=8,
        blank=True,
        validators=[RegexValidator(REGION, "Write the beginning of a number, like +49.")],
        help_text="SMS only: prefix of the numbers, such as +49; the longest match decides."
        " Empty: numbers which match no other region.",
    )
    platform = models.CharField(
        max_length=24,
        blank=True,
        help_text="Kind of address, such as apns_token. Rows with the kind precede rows"
        " without a kind. Empty: every kind supported by the provider.",
    )
    provider = models.CharField(max_length=32)
    rank = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        validators=[MaxValueValidator(9)],
        help_text="Rank 0 is first; a higher rank gets deliveries which lower ranks cannot send.",
    )
    weight = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="Share among the rows of the rank: weights 3 and 1 give 75 % and 25 %.",
    )
    is_enabled = models.BooleanField(default=True, db_default=True, verbose_name="enabled")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """A provider appears once per channel, region and platform."""

        ordering = ("channel", "-region", "-platform", "rank", "provider")
        permissions = permissions_of("providerroute")
        verbose_name = "provider route"
        constraints = (
            models.UniqueConstraint(
                fields=("channel", "region", "platform", "provider"),
                name="route_once",
                violation_error_message="There is a row for this provider in this place already.",
            ),
            models.CheckConstraint(
                condition=Q(region="") | Q(channel=Channel.SMS.value, region__regex=REGION),
                name="route_region_of_numbers",
                violation_error_message="Only SMS has regions, and they begin like numbers.",
            ),
            models.CheckConstraint(condition=Q(weight__gte=1), name="route_weight_of_one_or_more"),
        )

    def __str__(self) -> str:
        """Return channel, region, platform and provider."""
        place = " ".join(filter(None, (self.get_channel_display(), self.region, self.platform)))
        return f"{place}: {self.provider}"
