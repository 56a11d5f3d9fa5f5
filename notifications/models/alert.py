"""Something an operator must look at."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Alert(models.Model):
    """Raised once while it lasts: one open alert for a kind and subject."""

    kind = models.CharField(max_length=48)
    subject = models.CharField(max_length=128, blank=True)
    detail = models.CharField(max_length=500)
    raised_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now=True, help_text="When it was last found to be so.")
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Open ones are unique."""

        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "subject"),
                condition=Q(resolved_at__isnull=True),
                name="one_open_alert",
            ),
        )

    def __str__(self) -> str:
        """Kind and subject."""
        return f"{self.kind} {self.subject}".strip()
