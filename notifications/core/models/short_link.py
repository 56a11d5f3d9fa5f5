"""Short links in SMS."""

from __future__ import annotations

from django.db import models


class ShortLink(models.Model):
    """The target of a short link, and the number of clicks.

    Only `store.postgres.short_links` writes the table. The target can contain personal data. The
    row is kept until `expires_at`, and anyone with the token can see the target.
    """

    token = models.CharField(max_length=16, primary_key=True)
    delivery_id = models.UUIDField()
    target = models.TextField()
    clicks = models.PositiveIntegerField(default=0, db_default=0)
    first_clicked_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()

    class Meta:
        """Indexes for deletion by `expires_at` and for the clicks of a delivery."""

        db_table = "short_link"
        indexes = (
            models.Index(fields=("expires_at",), name="short_link_expiry"),
            models.Index(fields=("delivery_id",), name="short_link_delivery"),
        )

    def __str__(self) -> str:
        """Return the delivery; the token would open the link."""
        return f"link of delivery {self.delivery_id}"
