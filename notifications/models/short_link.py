"""Links in an SMS, cut short."""

from __future__ import annotations

from django.db import models


class ShortLink(models.Model):
    """Where a short link leads, and how often somebody followed it.

    Written by `store.postgres.short_links` alone. The target may hold what identifies its reader:
    it is kept until `expires_at` and shown to whoever has the token.
    """

    token = models.CharField(max_length=16, primary_key=True)
    delivery_id = models.UUIDField()
    target = models.TextField()
    clicks = models.PositiveIntegerField(default=0)
    first_clicked_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta:
        """Swept by `expires_at`; looked up by delivery when an operator asks who clicked."""

        db_table = "short_link"
        indexes = (
            models.Index(fields=("expires_at",), name="short_link_expiry"),
            models.Index(fields=("delivery_id",), name="short_link_delivery"),
        )

    def __str__(self) -> str:
        """Its delivery: the token opens the link."""
        return f"link of delivery {self.delivery_id}"
