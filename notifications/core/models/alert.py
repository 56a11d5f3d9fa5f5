"""Alerts: conditions which need an operator."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from notifications.core.rules import alerts


class Alert(models.Model):
    """A condition which needs an operator, with at most one open row per kind and subject."""

    kind = models.CharField(max_length=48)
    subject = models.CharField(max_length=128, blank=True)
    detail = models.CharField(max_length=500)
    raised_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(
        auto_now=True, help_text="Last time at which the condition held."
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    cause = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="covered",
        help_text="The open alert that covers this alert.",
    )
    owner = models.CharField(
        max_length=128, blank=True, db_default="", help_text="Person or team that works on it."
    )
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=128, blank=True, db_default="")
    acknowledged_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then no reminder leaves."
    )
    note = models.CharField(max_length=500, blank=True, db_default="")

    class Meta:
        """Open alerts are unique."""

        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "subject"),
                condition=Q(resolved_at__isnull=True),
                name="one_open_alert",
            ),
        )

    def __str__(self) -> str:
        return f"{self.title}: {self.subject}" if self.subject else self.title

    @property
    def title(self) -> str:
        """Return the title of the kind."""
        return alerts.title(self.kind)

    @property
    def explanation(self) -> str:
        """Return the detail; without a detail, the meaning of the kind."""
        return self.detail or alerts.sentence(self.kind)
