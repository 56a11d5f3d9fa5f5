"""SMS pumping protection: limits and overrides by operators, and the learned traffic."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from notifications.features.sms_pumping.rules.ceilings import Ceiling, CeilingLimits

_DEFAULTS = CeilingLimits()
_EDITED = (Ceiling.ADDRESS, Ceiling.PREFIX, Ceiling.COUNTRY)


class SmsLimits(models.Model):
    """The limits of SMS pumping protection, at most one row. Without a row, the defaults apply."""

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    address_limit = models.PositiveIntegerField(
        "SMS to a number in 10 minutes",
        default=_DEFAULTS.address,
        db_default=_DEFAULTS.address,
        validators=[MinValueValidator(1)],
        help_text="Further P0 and P1 SMS to the number get 429.",
    )
    prefix_floor = models.PositiveIntegerField(
        "SMS to a prefix in 10 minutes",
        default=_DEFAULTS.prefix_floor,
        db_default=_DEFAULTS.prefix_floor,
        validators=[MinValueValidator(1)],
        help_text="So many SMS to numbers with the same first seven digits are never refused.",
    )
    country_floor = models.PositiveIntegerField(
        "SMS to a country in an hour",
        default=_DEFAULTS.country_floor,
        db_default=_DEFAULTS.country_floor,
        validators=[MinValueValidator(1)],
        help_text="So many SMS to a country are never refused.",
    )
    growth_percent = models.PositiveIntegerField(
        default=round(_DEFAULTS.growth * 100),
        db_default=round(_DEFAULTS.growth * 100),
        validators=[MinValueValidator(100), MaxValueValidator(100_000)],
        help_text="Percentage of the usual traffic of the last four weeks above which SMS are"
        " refused.",
    )
    is_enforced = models.BooleanField(
        "enforced",
        default=_DEFAULTS.is_enforced,
        db_default=_DEFAULTS.is_enforced,
        help_text="Off: SMS above a ceiling are sent, and alerts are raised.",
    )

    class Meta:
        """At most one row."""

        app_label = "notifications"
        db_table = "sms_limits"
        verbose_name = "SMS limits"
        verbose_name_plural = "SMS limits"
        constraints = (models.CheckConstraint(condition=Q(id=1), name="one_sms_limits"),)

    def __str__(self) -> str:
        return "SMS limits"


class SmsOverride(models.Model):
    """A ceiling set by an operator, which replaces the learned ceiling."""

    ceiling = models.CharField(
        max_length=16,
        choices=[(str(each), each.value) for each in _EDITED],
        default=Ceiling.PREFIX,
        db_default=Ceiling.PREFIX,
    )
    value = models.CharField(
        max_length=15,
        validators=[RegexValidator(r"^(\d{1,15}|[A-Z]{2}|\?\?)$", "Write digits or a country.")],
        help_text="A number in digits (address), the first one to seven digits of numbers (prefix),"
        " or a country such as DE; ?? is the unknown country.",
    )
    limit = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="P0 and P1 SMS in 10 minutes, or in an hour for a country. Empty: no ceiling."
        " 0: every SMS is refused.",
    )
    ends_at = models.DateTimeField(
        null=True, blank=True, help_text="End of the override; empty: no end."
    )
    reason = models.CharField(max_length=200, help_text="For the audit log.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One override for a value."""

        app_label = "notifications"
        db_table = "sms_override"
        verbose_name = "SMS override"
        ordering = ("-created_at",)
        constraints = (
            models.UniqueConstraint(fields=("ceiling", "value"), name="one_sms_override"),
        )

    def __str__(self) -> str:
        return f"{self.ceiling} {self.value}"


class SmsTraffic(models.Model):
    """The P0 and P1 SMS of a UTC day to a prefix or a country, written by `sms_pumping`."""

    day = models.DateField()
    ceiling = models.CharField(max_length=16)
    producer_id = models.BigIntegerField(default=0, db_default=0, help_text="0: all producers.")
    name = models.CharField(max_length=15, help_text="A prefix, a country, or * for all countries.")
    peak = models.BigIntegerField(help_text="Most SMS in 10 minutes, or in an hour to a country.")
    total = models.BigIntegerField()

    class Meta:
        """One row for a day and a name."""

        app_label = "notifications"
        db_table = "sms_traffic"
        constraints = (
            models.UniqueConstraint(
                fields=("day", "ceiling", "producer_id", "name"), name="one_sms_traffic"
            ),
        )

    def __str__(self) -> str:
        return f"{self.ceiling} {self.name} on {self.day}"


class SmsTrafficPosition(models.Model):
    """The last interval of prefixes or countries that the traffic includes."""

    ceiling = models.CharField(max_length=16, primary_key=True)
    interval = models.BigIntegerField(help_text="Number of the interval since 1970.")

    class Meta:
        app_label = "notifications"
        db_table = "sms_traffic_position"

    def __str__(self) -> str:
        return f"{self.ceiling} {self.interval}"
