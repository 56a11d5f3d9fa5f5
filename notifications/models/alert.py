"""Alerts: conditions which need an operator."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


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
        return f"{self.kind} {self.subject}".strip()
