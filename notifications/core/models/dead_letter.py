"""Dead letters and replay jobs."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from notifications.core.models.choices import CHANNELS, MODES, PRIORITIES
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.roles import permissions_of


class ReplayJob(models.Model):
    """A request to replay a set of dead letters, processed by a sweep."""

    mode = models.SmallIntegerField(
        choices=MODES,
        default=Mode.LIVE,
        db_default=Mode.LIVE,
        help_text="Keys of this mode can read the job. Dead letters of both modes give a live job.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    requested_by = models.CharField(max_length=128)
    forced = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Also replay dead letters whose notification has already arrived.",
    )
    renews_ttl = models.BooleanField(
        default=False, db_default=False, help_text="Start the TTL anew (never for P0)."
    )
    total = models.IntegerField(default=0, db_default=0)
    unassigned = models.JSONField(
        null=True,
        blank=True,
        help_text="Dead letters that join the job in batches; empty once all have joined.",
    )
    replayed = models.IntegerField(default=0, db_default=0)
    skipped = models.IntegerField(default=0, db_default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"replay job {self.pk}"


class DeadLetter(models.Model):
    """A delivery which failed for good, kept 90 days for an operator to replay or discard.

    The snapshot outlives the notification's partition, so a dead letter can be read, and replayed
    as a new notification, until deletion. The snapshot never has sensitive variables.
    """

    delivery_id = models.UUIDField()
    mode = models.SmallIntegerField(choices=MODES)
    priority = models.SmallIntegerField(choices=PRIORITIES)
    channel = models.SmallIntegerField(choices=CHANNELS)
    producer_id = models.BigIntegerField()
    recipient_id = models.BigIntegerField()
    contact_id = models.BigIntegerField(
        null=True, help_text="The delivery's contact. An open dead letter marks the contact."
    )
    provider = models.CharField(max_length=32, blank=True)
    reason = models.CharField(max_length=64)
    detail = models.CharField(max_length=500, blank=True)
    snapshot = models.JSONField()
    created_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.CharField(
        max_length=32,
        blank=True,
        help_text="replayed, discarded, or the reason of a skipped replay.",
    )
    replay_job = models.ForeignKey(
        ReplayJob,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="letters",
        db_index=False,  # dead_letter_of_job has the order of the replay
    )

    class Meta:
        """A delivery has at most one open dead letter, also after a second failure."""

        ordering = ("-id",)
        permissions = permissions_of("deadletter")
        constraints = (
            models.UniqueConstraint(
                fields=("delivery_id",),
                condition=Q(resolved_at__isnull=True),
                name="one_open_dead_letter_per_delivery",
            ),
        )
        indexes = (
            models.Index(
                fields=("reason", "created_at"),
                condition=Q(resolved_at__isnull=True),
                name="dead_letter_open",
            ),
            models.Index(fields=("recipient_id",), name="dead_letter_by_recipient"),
            models.Index(fields=("created_at",), name="dead_letter_by_age"),
            models.Index(
                fields=("contact_id",),
                condition=Q(resolved_at__isnull=True),
                name="dead_letter_of_contact",
            ),
            models.Index(
                fields=("replay_job", "delivery_id"),
                condition=Q(resolved_at__isnull=True, replay_job__isnull=False),
                name="dead_letter_of_job",
            ),
            models.Index(
                fields=("created_at",),
                condition=Q(
                    resolved_at__isnull=True, mode=Mode.LIVE.value, priority__lte=Priority.P1.value
                ),
                name="dead_letter_urgent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.delivery_id}: {self.reason}"
