"""Ordering keys: deliveries with the same key are sent in order of acceptance, singly."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS, MODES, PRIORITIES


class OrderingKey(models.Model):
    """A producer's ordering key. The row is locked while deliveries are added."""

    producer_id = models.BigIntegerField()
    mode = models.SmallIntegerField(choices=MODES)
    key = models.CharField(max_length=255)
    priority = models.SmallIntegerField(
        choices=PRIORITIES,
        help_text="Priority of the key's first notification, for all notifications of the key.",
    )
    used_at = models.DateTimeField(
        help_text="Within the hour; a key unused for a day is forgotten."
    )
    look_at = models.DateTimeField(
        null=True,
        help_text="Time of the next check for lost wake-ups; empty without a waiting delivery.",
    )

    class Meta:
        db_table = "ordering_key"
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=("producer_id", "mode", "key"), name="one_ordering_key"),
        )
        indexes = (
            models.Index(
                fields=("look_at",), condition=Q(look_at__isnull=False), name="ordering_key_look"
            ),
            models.Index(fields=("used_at",), name="ordering_key_used"),
        )

    def __str__(self) -> str:
        """Return the id; a producer may use an address as the key."""
        return f"ordering key {self.pk}"


class OrderedDelivery(models.Model):
    """The position of a delivery in the queue of a key and channel; the id gives the order.

    Ids are generated under the key's lock, so the order of ids is the order of commits. The row is
    deleted when later deliveries need not wait any longer.
    """

    key = models.ForeignKey(
        OrderingKey, on_delete=models.CASCADE, db_constraint=False, db_index=False
    )
    channel = models.SmallIntegerField(choices=CHANNELS)
    delivery_id = models.UUIDField(unique=True)
    held_since = models.DateTimeField(
        null=True, help_text="Start of a hold for another reason than the ordering."
    )

    class Meta:
        """The index finds the first position of a key and channel."""

        db_table = "ordered_delivery"
        indexes = (models.Index(fields=("key", "channel", "id"), name="ordered_line"),)

    def __str__(self) -> str:
        return f"place of {self.delivery_id}"
