"""Prices of providers, edited in the admin or loaded from a file."""

from __future__ import annotations

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS


class Price(models.Model):
    """The price of an SMS segment, or of a message on another channel, from a day on.

    The most specific row applies (see `rules.prices`).
    """

    channel = models.SmallIntegerField(choices=CHANNELS)
    provider = models.CharField(max_length=32, blank=True, help_text="Empty: every provider.")
    country = models.CharField(
        max_length=2,
        blank=True,
        validators=[RegexValidator(r"^[A-Z]{2}$", "Two capital letters, such as DE.")],
        help_text="Country of the number, such as DE. Empty: every country.",
    )
    micros = models.BigIntegerField(
        "microdollars",
        validators=[MinValueValidator(0)],
        help_text="Millionths of a US dollar for each SMS segment or message: 7500 is $0.0075.",
    )
    valid_from = models.DateField(help_text="First UTC day of the price.")

    class Meta:
        """One price for a provider, channel, country and day."""

        db_table = "price"
        ordering = ("channel", "country", "provider", "-valid_from")
        constraints = (
            models.UniqueConstraint(
                fields=("channel", "country", "provider", "valid_from"), name="one_price"
            ),
            models.CheckConstraint(condition=Q(micros__gte=0), name="price_is_not_negative"),
        )

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.get_channel_display(), self.country, self.provider)))
        return f"{place} from {self.valid_from}"
