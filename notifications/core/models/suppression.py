"""The suppression list: addresses to which nothing is sent."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS
from notifications.core.rules.suppression import Cause

LONGEST_NOTE: Final = 200
LONGEST_BY: Final = 128
"""Maximum characters; longer values are cut."""
CAUSES: Final = [(cause.value, cause.value.replace("_", " ")) for cause in Cause]


class Suppression(models.Model):
    """A reason for which an address is suppressed. Removed entries stay, with the actor.

    The list applies to live mode only. The address is a key: the database function `suppressible`
    gives each spelling of an address, such as `Maria@example.com`, the same key.
    """

    channel = models.SmallIntegerField(choices=CHANNELS)
    address = models.CharField(max_length=2048)
    reason = models.CharField(max_length=16, choices=CAUSES)
    provider = models.CharField(
        max_length=32, blank=True, help_text="Provider which reported the address."
    )
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=LONGEST_BY)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=LONGEST_BY, blank=True)
    undo_note = models.CharField(max_length=LONGEST_NOTE, blank=True)

    class Meta:
        """An address has at most one active entry per reason: START must not remove a bounce."""

        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("channel", "address", "reason"),
                condition=Q(undone_at__isnull=True),
                name="one_active_suppression",
            ),
        )
        indexes = (models.Index(fields=("address",), name="suppression_by_address"),)

    def __str__(self) -> str:
        """Return channel and reason; the address is personal data."""
        return f"{self.get_channel_display()} suppression {self.pk}: {self.get_reason_display()}"
