"""Addresses that are not used, whoever hands them in."""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Q

from notifications.models.choices import CHANNELS
from notifications.rules.suppression import Cause

LONGEST_NOTE: Final = 200
LONGEST_BY: Final = 128
"""Characters; what is longer is cut."""
CAUSES: Final = [(cause.value, cause.value.replace("_", " ")) for cause in Cause]


class Suppression(models.Model):
    """One reason for which one address is not used; undone rows stay and tell who undid them.

    Live only: what a test key sends reaches nobody. The address is spelled as the database function
    `suppressible` spells it, so that `Maria@example.com` is `maria@example.com`.
    """

    channel = models.SmallIntegerField(choices=CHANNELS)
    address = models.CharField(max_length=2048)
    reason = models.CharField(max_length=16, choices=CAUSES)
    provider = models.CharField(max_length=32, blank=True, help_text="Who told us.")
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=LONGEST_BY)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.CharField(max_length=LONGEST_BY, blank=True)
    undo_note = models.CharField(max_length=LONGEST_NOTE, blank=True)

    class Meta:
        """An address once for each reason while it lasts: START must not undo a bounce."""

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
        """Channel and reason: the address itself is personal."""
        return f"{self.get_channel_display()} suppression {self.pk}: {self.get_reason_display()}"
