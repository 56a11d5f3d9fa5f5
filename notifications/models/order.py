"""Lines: deliveries that leave one at a time, in the order in which they were accepted."""

from __future__ import annotations

from django.db import models

from notifications.models.choices import CHANNELS, MODES, PRIORITIES


class OrderingKey(models.Model):
    """A producer's ordering key. Its row is locked while its deliveries join their lines."""

    producer_id = models.BigIntegerField()
    mode = models.SmallIntegerField(choices=MODES)
    key = models.CharField(max_length=255)
    priority = models.SmallIntegerField(
        choices=PRIORITIES, help_text="The one that all of it have: one lane carries a line."
    )
    used_at = models.DateTimeField(
        help_text="Within the hour; a key unused for a day is forgotten."
    )

    class Meta:
        """Once for each producer and mode."""

        db_table = "ordering_key"
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("producer_id", "mode", "key"), name="one_ordering_key"),
        )

    def __str__(self) -> str:
        """As the producer spells it."""
        return self.key


class OrderedDelivery(models.Model):
    """A delivery's place in the line of its key and channel: the id is the order.

    Ids are drawn under the key's lock, so they rise in the order of the commits. The row is there
    while others must wait for it, and gone afterwards.
    """

    key = models.ForeignKey(
        OrderingKey, on_delete=models.CASCADE, db_constraint=False, db_index=False
    )
    channel = models.SmallIntegerField(choices=CHANNELS)
    delivery_id = models.UUIDField(unique=True)
    held_since = models.DateTimeField(
        null=True, help_text="Since when something other than the line holds it."
    )

    class Meta:
        """Read from the front of a line."""

        db_table = "ordered_delivery"
        indexes = (models.Index(fields=("key", "channel", "id"), name="ordered_line"),)

    def __str__(self) -> str:
        """Which delivery."""
        return f"place of {self.delivery_id}"
