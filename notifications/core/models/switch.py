"""Switches: kill switches of operators, which hold deliveries until a resume or an expiry."""

from __future__ import annotations

from django.db import models

from notifications.core.models.choices import CHANNELS
from notifications.core.models.producer import Producer
from notifications.core.rules.switches import SwitchKind

KINDS = [(each.value, each.value) for each in SwitchKind]


class Switch(models.Model):
    """A kill switch: matching deliveries wait. The row stays after the end, as a record.

    A switch is active until `expires_at` or `resumed_at`. No process has to act at the expiry.
    """

    kind = models.CharField(max_length=16, choices=KINDS, help_text="What the switch holds.")
    value = models.CharField(
        max_length=64,
        help_text="Name of the producer, type, template, channel, provider or lane, or id of the"
        " bulk job.",
    )
    channel = models.SmallIntegerField(
        choices=CHANNELS,
        null=True,
        blank=True,
        help_text="Only for a provider. Empty: every channel of the provider.",
    )
    producer = models.ForeignKey(
        Producer, null=True, blank=True, on_delete=models.CASCADE, related_name="switches"
    )
    reason = models.CharField(
        max_length=200, help_text="Why. Operators read the reason on every held delivery."
    )
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The pause ends by itself. Empty: until an operator resumes.",
    )
    resumed_at = models.DateTimeField(null=True, blank=True)
    resumed_by = models.CharField(max_length=150, blank=True)
    released_at = models.DateTimeField(
        null=True, blank=True, help_text="Every delivery that the switch held was released."
    )

    class Meta:
        """The index serves the sweep, which looks for resumed switches each second."""

        ordering = ("-id",)
        verbose_name_plural = "switches"
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(resumed_at__isnull=False, released_at__isnull=True),
                name="switch_to_release",
            ),
        )

    def __str__(self) -> str:
        on = f" on {self.get_channel_display()}" if self.channel is not None else ""
        return f"{self.kind} {self.value}{on}"
