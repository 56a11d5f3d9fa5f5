"""Producers and API keys."""

from __future__ import annotations

import datetime as dt

from django.contrib.postgres.fields import ArrayField
from django.db import models

from notifications.core.models.choices import MODES, PRIORITIES
from notifications.core.rules.lane import Priority


def every_priority() -> list[int]:
    """Return all priorities, the default of a producer."""
    return [priority.value for priority in Priority]


class Producer(models.Model):
    """A service of the company which sends notifications."""

    name = models.CharField(max_length=64, unique=True)
    is_active = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Off: requests with any key of the producer get 403.",
    )
    priorities = ArrayField(
        models.SmallIntegerField(choices=PRIORITIES),
        default=every_priority,
        db_default=[0, 1, 2, 3],
        help_text="Permitted priorities.",
    )
    may_send_content = models.BooleanField(
        default=False, db_default=False, help_text="May send raw text instead of a template."
    )
    rate_per_second = models.PositiveIntegerField(
        default=1_000,
        db_default=1_000,
        help_text="Limit of accepted notifications per second, for all keys together.",
    )
    rate_burst = models.PositiveIntegerField(
        default=5_000,
        db_default=5_000,
        help_text="Limit of accepted notifications at once after a pause.",
    )
    timezone = models.CharField(
        max_length=64,
        default="UTC",
        db_default="UTC",
        help_text="For recipients without a known timezone: their quiet hours apply"
        " in this timezone, and P3 is sent during the producer's day only.",
    )
    day_begins = models.TimeField(default=dt.time(8), db_default=dt.time(8))
    day_ends = models.TimeField(
        default=dt.time(20),
        db_default=dt.time(20),
        help_text="End of the producer's day, as local time in the producer's timezone.",
    )
    allowed_origins = ArrayField(
        models.CharField(max_length=255),
        default=list,
        db_default=[],
        blank=True,
        help_text="Origins of web pages that may call with recipient tokens of the producer, such"
        " as https://shop.example. * permits every origin.",
    )
    sms_countries = ArrayField(
        models.CharField(max_length=2),
        default=list,
        db_default=[],
        blank=True,
        help_text="Countries to which the producer may send SMS, such as DE, AT. Empty: every"
        " country.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class ApiKey(models.Model):
    """A bearer key of a producer. The secret is shown once; the table has the SHA-256 only."""

    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="keys")
    prefix = models.CharField(
        max_length=24, unique=True, help_text="The visible beginning: finds the key, is no secret."
    )
    digest = models.BinaryField(max_length=32, editable=False)
    mode = models.SmallIntegerField(choices=MODES)
    scopes = ArrayField(models.CharField(max_length=64))
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150, blank=True, help_text="An operator, or a key.")
    replaces = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="replaced_by",
        help_text="The key replaced by this key.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        """Return the visible part of the key."""
        return f"{self.prefix}…"
