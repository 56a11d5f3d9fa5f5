"""Recipients, contacts and preferences."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Coalesce, NullIf

from notifications.core.models.choices import CHANNELS, MODES
from notifications.core.rules.lane import Mode
from notifications.core.rules.roles import permissions_of


class Recipient(models.Model):
    """A person who can be notified; unique per mode and user id."""

    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    user_id = models.CharField(max_length=128)
    locale = models.CharField(max_length=35, default="en", db_default="en")
    timezone = models.CharField(max_length=64, blank=True)
    phone_timezone = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="Timezone of the phone number; used without a given timezone.",
    )
    attributes = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Values of the defined attributes, for audiences.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        """The indexes serve audiences: equal attributes; the recipients of a timezone."""

        constraints = (
            models.UniqueConstraint(fields=("mode", "user_id"), name="recipient_once_per_mode"),
        )
        indexes = (
            GinIndex(
                fields=("attributes",), name="recipient_by_attribute", opclasses=("jsonb_path_ops",)
            ),
            models.Index(
                F("mode"),
                Coalesce(NullIf("timezone", Value("")), "phone_timezone"),
                F("id"),
                name="recipient_by_zone",
            ),
        )

    def __str__(self) -> str:
        return self.user_id


class Contact(models.Model):
    """An address of a recipient on a channel.

    An unusable contact is invalidated with a reason, never deleted.
    """

    recipient = models.ForeignKey(Recipient, on_delete=models.CASCADE, related_name="contacts")
    channel = models.SmallIntegerField(choices=CHANNELS)
    kind = models.CharField(
        max_length=24,
        blank=True,
        help_text="Which sort of address where a channel has several: fcm_token, apns_token ...",
    )
    address = models.CharField(max_length=2048)
    is_primary = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(
        max_length=150, blank=True, db_default="", help_text="An operator, or a producer's key."
    )
    changed_at = models.DateTimeField(null=True, blank=True)
    changed_by = models.CharField(max_length=150, blank=True, db_default="")
    invalidated_at = models.DateTimeField(null=True, blank=True)
    invalid_reason = models.CharField(max_length=200, blank=True)
    client_receipt_at = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Last client receipt of the app at this address, exact to a day.",
    )
    secret_version = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        editable=False,
        help_text="Webhook: number of the signing secret.",
    )
    secret_changed_at = models.DateTimeField(
        null=True, editable=False, help_text="Webhook: the secret before signs for a week more."
    )
    shared_secret_until = models.DateTimeField(
        null=True,
        editable=False,
        help_text="Webhook: till when NOTIFY_WEBHOOK_SECRETS sign as well.",
    )

    class Meta:
        """The index on the key serves the look-ups by address, in any spelling."""

        permissions = permissions_of("contact")
        constraints = (
            models.UniqueConstraint(
                fields=("recipient", "channel", "address"), name="contact_once_per_recipient"
            ),
            models.UniqueConstraint(
                fields=("recipient", "channel"),
                condition=Q(is_primary=True),
                name="one_primary_contact_per_channel",
            ),
        )
        indexes = (
            models.Index(
                Func("channel", "address", function="suppressible"), name="contact_by_key"
            ),
        )

    def __str__(self) -> str:
        """Return channel and id; the address is personal data."""
        return f"{self.get_channel_display()} contact {self.pk}"


class Preference(models.Model):
    """The preferences of a recipient. Without a row everything is allowed, in the default order."""

    recipient = models.OneToOneField(
        Recipient, on_delete=models.CASCADE, primary_key=True, related_name="preference"
    )
    channels_off = ArrayField(
        models.SmallIntegerField(choices=CHANNELS), default=list, db_default=[], blank=True
    )
    channel_order = ArrayField(
        models.SmallIntegerField(choices=CHANNELS), default=list, db_default=[], blank=True
    )
    categories_off = ArrayField(
        models.CharField(max_length=64), default=list, db_default=[], blank=True
    )
    categories_left = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        editable=False,
        help_text="Switched off by the recipient. API keys cannot switch these categories on.",
    )
    topics_off = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Channel -> categories and types that are off on this channel.",
    )
    channels_left = ArrayField(
        models.SmallIntegerField(choices=CHANNELS),
        default=list,
        db_default=[],
        blank=True,
        editable=False,
        help_text="Switched off by the recipient. API keys cannot switch these channels on.",
    )
    topics_left = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        editable=False,
        help_text="Switched off by the recipient on a channel. API keys cannot switch these on.",
    )
    digests = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Category or type -> at_once, daily or weekly, for e-mail.",
    )
    quiet_hours = models.JSONField(default=list, db_default=[], blank=True)
    do_not_disturb_until = models.DateTimeField(
        null=True, blank=True, help_text="In UTC. Before this time only P0 is sent."
    )
    caps = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="Channel -> cap, such as 3/day; other channels have the default cap.",
    )
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"preferences of recipient {self.pk}"
