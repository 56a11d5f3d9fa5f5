"""Notifications and notification types."""

from __future__ import annotations

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS, MODES, PRIORITIES
from notifications.core.rules.fallback import FallbackOn
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.roles import permissions_of

LONGEST_BATCH_WINDOW: Final = 43_200
"""Seconds of the longest batch window of a type: below the usual times to live of P2 and P3."""


class NotificationType(models.Model):
    """Routing data of a type: priority, category and retry preset."""

    name = models.CharField(max_length=64, primary_key=True)
    priority = models.SmallIntegerField(
        choices=PRIORITIES, default=Priority.P2, db_default=Priority.P2
    )
    category = models.CharField(
        max_length=64,
        blank=True,
        help_text="Category for unsubscription, such as marketing or social.",
    )
    retry_preset = models.CharField(
        max_length=16,
        blank=True,
        help_text="Empty: the policy of the priority and channel.",
    )
    digest_template = models.SlugField(
        max_length=64,
        blank=True,
        db_index=False,
        help_text="Template of a message which replaces several P2 held by a frequency cap;"
        " its variables are count, items and type. Empty: no digest.",
    )
    batch_window_seconds = models.PositiveIntegerField(
        "batch window",
        default=0,
        db_default=0,
        validators=[MaxValueValidator(LONGEST_BATCH_WINDOW)],
        help_text="Seconds for which P2 and P3 of the type wait for further messages to the same"
        " recipient; the digest template replaces them. 0: each message leaves at once.",
    )
    tracks_opens = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Each e-mail has an invisible picture that tells when it is loaded, so the"
        " recipient is observed: many laws require consent. The result is inexact, because mail"
        " programs block pictures or load them without a reader.",
    )
    tracks_clicks = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The links of each e-mail lead over this service, and a click on a link of an"
        " e-mail or a short link of an SMS is stored with the delivery, so the recipient is"
        " observed: many laws require consent. Security scanners follow links too.",
    )

    fallback_on = models.CharField(
        max_length=16,
        blank=True,
        db_default="",
        choices=[(each.value, each.label) for each in FallbackOn],
        help_text="Condition for the next channel of a fallback chain.",
    )
    confirm_seconds = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Seconds to wait for a receipt before the next channel of a fallback chain."
        " Empty: 5 for P0, 30 for other priorities.",
    )

    is_mandatory = models.BooleanField(
        "mandatory",
        default=False,
        db_default=False,
        help_text="Recipients cannot switch the type off, by itself or by its category, such as"
        " invoices. A type with priority P0 is always mandatory. A channel that is off stays off.",
    )
    is_listed = models.BooleanField(
        "listed",
        default=True,
        db_default=True,
        help_text="Recipients see the type on the preference page.",
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Notification(models.Model):
    """A producer's request. Partitioned by day on `id`; see `rules.ids` for the structure of an id.

    The status is computed from the deliveries. Only `cancelled_at`, the time of a scheduled
    notification and the wiping of `secrets` change a row.
    """

    id = models.UUIDField(primary_key=True)
    producer_id = models.BigIntegerField()
    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    priority = models.SmallIntegerField(choices=PRIORITIES)
    type = models.CharField(max_length=64)
    category = models.CharField(max_length=64, blank=True)
    retry_preset = models.CharField(max_length=16, blank=True)
    recipient_id = models.BigIntegerField()
    user_id = models.CharField(max_length=128)
    template = models.BigIntegerField(null=True, help_text="The pinned template version's row.")
    content = models.JSONField(null=True, help_text="Raw title, body, html instead of a template.")
    variables = models.JSONField(default=dict, db_default={})
    secrets = models.BinaryField(null=True, help_text="Sensitive variables, encrypted; then wiped.")
    metadata = models.JSONField(default=dict, db_default={})
    inbox = models.JSONField(
        null=True, help_text="For the in-app message: expires_in, in seconds, and data."
    )
    attachments = models.JSONField(
        null=True, help_text="Of the e-mail: id, name, type, size, digest and inline_id of each."
    )
    collapse_key = models.CharField(max_length=64, blank=True)
    ordering_key = models.CharField(max_length=255, blank=True, db_default="")
    webhook_url = models.CharField(
        max_length=2048, blank=True, db_default="", help_text="Learns of status changes."
    )
    channels = ArrayField(models.SmallIntegerField(choices=CHANNELS), default=list, db_default=[])
    spread = models.CharField(max_length=8)
    falls_back = models.BooleanField(
        default=False, db_default=False, help_text="The request has a fallback chain."
    )
    idempotency_key = models.CharField(max_length=255, blank=True)
    traceparent = models.CharField(max_length=55, blank=True)
    scheduled_at = models.DateTimeField(null=True)
    local_at = models.CharField(
        max_length=16, blank=True, db_default="", help_text="On the recipient's wall clock."
    )
    local_zone = models.CharField(
        max_length=64,
        blank=True,
        db_default="",
        help_text="Timezone of send_at_local, resolved at accept.",
    )
    expires_at = models.DateTimeField()
    cancelled_at = models.DateTimeField(null=True)
    bulk_job_id = models.UUIDField(null=True, help_text="The bulk job that made the notification.")
    variant = models.CharField(
        max_length=32, blank=True, db_default="", help_text="A/B variant of the bulk job."
    )
    template_variant = models.CharField(
        max_length=32,
        blank=True,
        db_default="",
        help_text="Variant of the template's texts; empty: the base texts.",
    )
    created_at = models.DateTimeField()

    class Meta:
        """Queries by recipient use an index; queries by producer and time use the primary key."""

        db_table = "notification"
        permissions = permissions_of("notification")
        indexes = (
            models.Index(fields=("recipient_id", "-id"), name="notification_by_recipient"),
            models.Index(
                fields=("expires_at",),
                condition=Q(secrets__isnull=False),
                name="notification_with_secrets",
            ),
        )

    def __str__(self) -> str:
        return str(self.id)
