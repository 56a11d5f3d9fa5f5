"""Bulk jobs and the ranges of their audiences."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from notifications.core import clock
from notifications.core.models.choices import CHANNELS, MODES, PRIORITIES
from notifications.core.models.producer import Producer
from notifications.core.rules.bulk_job import BulkJobState, UniqueBy
from notifications.core.rules.lane import Mode, Priority


class BulkJob(models.Model):
    """One message to each recipient of an audience.

    Expanders turn recipients into notifications, page by page, no faster than the job's rate and no
    further ahead than a window. The counters of the ranges together are the job's progress.
    """

    id = models.UUIDField(primary_key=True, default=clock.new_notification_id, editable=False)
    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="bulk_jobs")
    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    name = models.CharField(max_length=100)
    state = models.CharField(
        max_length=12,
        choices=[(each.value, each.value) for each in BulkJobState],
        default=BulkJobState.SCHEDULED,
        db_default=BulkJobState.SCHEDULED,
    )
    state_reason = models.CharField(max_length=300, blank=True, help_text="Reason of the state.")
    state_changed_at = models.DateTimeField(null=True, blank=True)
    state_changed_by = models.CharField(max_length=150, blank=True)

    audience = models.JSONField(help_text="Audience expression: who gets the message.")
    type = models.CharField(max_length=64)
    category = models.CharField(max_length=64, blank=True)
    priority = models.SmallIntegerField(
        choices=PRIORITIES, default=Priority.P3, db_default=Priority.P3
    )
    template_id = models.CharField(max_length=64)
    template = models.BigIntegerField(help_text="The pinned template version's row.")
    variables = models.JSONField(
        default=dict,
        db_default={},
        help_text="For each message; values of an upload or a recipient come first.",
    )
    secrets = models.BinaryField(
        null=True, help_text="Sensitive variables, encrypted; removed when the job ends."
    )
    channels = ArrayField(models.SmallIntegerField(choices=CHANNELS), default=list, db_default=[])
    spread = models.CharField(max_length=8, help_text="first or all")
    unique_by = models.CharField(
        max_length=9,
        choices=[(each.value, each.value) for each in UniqueBy],
        default=UniqueBy.ADDRESS.value,
        db_default=UniqueBy.ADDRESS.value,
        help_text="address: one message to each mailbox, number, device or chat; recipient: one to"
        " each recipient.",
    )
    ttl_seconds = models.PositiveIntegerField(null=True, blank=True)
    metadata = models.JSONField(default=dict, db_default={})

    starts_at = models.DateTimeField(help_text="Expansion begins at this time.")
    send_at_local = models.CharField(
        max_length=19, blank=True, help_text="Send time on each recipient's wall clock."
    )
    rate_per_second = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.001)], help_text="Empty: no limit."
    )
    spread_seconds = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The messages are spread evenly over this time instead of a given rate.",
    )
    weight = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        validators=[MinValueValidator(1)],
        help_text="Share of the lane among the jobs that run in it.",
    )
    variants = models.JSONField(
        default=list,
        db_default=[],
        help_text="A/B: name, template_id, template, template_variant and share in percent of each"
        " variant.",
    )
    holdout_percent = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Recipients who get no message, for comparison."
    )
    winner_rule = models.JSONField(
        null=True, blank=True, help_text="A/B: metric, sample in percent, and after_seconds."
    )
    winner = models.CharField(max_length=32, blank=True, help_text="Variant that won.")
    test_group_size = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="The first recipients; the others follow after test_group_seconds.",
    )
    test_group_seconds = models.PositiveIntegerField(default=0, db_default=0)
    abort_limits = models.JSONField(
        default=dict,
        db_default={},
        help_text="failed, bounced, complained: shares; minimum: sent messages.",
    )

    estimate = models.BigIntegerField(
        null=True, blank=True, help_text="Estimated size of the audience at creation."
    )
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150, help_text="An operator, or a producer's key.")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """Partial indexes find the jobs that are not final, and the jobs of a day.

        The text of `send_at_local` begins with the date if it has a `T`.
        """

        db_table = "bulk_job"
        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("state", "starts_at"),
                condition=~Q(state__in=[each.value for each in BulkJobState if each.is_final]),
                name="bulk_job_open",
            ),
            models.Index(fields=("producer", "mode", "-id"), name="bulk_job_by_producer"),
            models.Index(
                fields=("starts_at",),
                condition=~Q(send_at_local__contains="T"),
                name="bulk_job_by_start",
            ),
            models.Index(
                fields=("send_at_local",),
                condition=Q(send_at_local__contains="T"),
                name="bulk_job_by_date",
            ),
        )

    def __str__(self) -> str:
        return self.name


class BulkJobRange(models.Model):
    """A range of recipient ids of a bulk job, with the checkpoint of its expansion.

    An expander reads recipients with ids above `cursor`, up to `until`, and commits their rows
    together with the new cursor: `UPDATE ... SET cursor = new WHERE cursor = old`.
    """

    job = models.ForeignKey(BulkJob, on_delete=models.CASCADE, related_name="ranges")
    number = models.PositiveSmallIntegerField()
    first = models.BigIntegerField(help_text="Value of the cursor at the start.")
    cursor = models.BigIntegerField(help_text="Recipients up to this id are done.")
    until = models.BigIntegerField(help_text="Last possible recipient id.")
    zones = ArrayField(
        models.CharField(max_length=64),
        null=True,
        blank=True,
        help_text="Only recipients in these timezones; empty: all.",
    )
    starts_at = models.DateTimeField(null=True, blank=True, help_text="Not expanded before.")
    sample = models.BooleanField(
        null=True,
        help_text="A/B with a winner: only the sample, or only the recipients outside of the"
        " sample, who get the winner. Empty: all.",
    )
    examined = models.BigIntegerField(
        default=0, db_default=0, help_text="Recipients of the audience."
    )
    accepted = models.BigIntegerField(default=0, db_default=0, help_text="Notifications.")
    left_out = models.JSONField(
        default=dict, db_default={}, help_text="Reason -> recipients without a message."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "bulk_job_range"
        constraints = (models.UniqueConstraint(fields=("job", "number"), name="one_range"),)

    def __str__(self) -> str:
        return f"range {self.number} of bulk job {self.job_id}"


class BulkJobAddress(models.Model):
    """An address with a message of a bulk job, until the expansion of the job ends.

    The primary key makes the message the only one. The job is not a constraint in the database: its
    check would wait for the lock of the job.
    """

    pk = models.CompositePrimaryKey("job", "digest")
    job = models.ForeignKey(
        BulkJob,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="addresses",
    )
    digest = models.BinaryField(
        help_text="First 16 bytes of SHA-256 of channel and address, as the suppression list"
        " compares addresses."
    )

    class Meta:
        db_table = "bulk_job_address"

    def __str__(self) -> str:
        return f"address of bulk job {self.job_id}"


class BulkJobPace(models.Model):
    """The first free slot of a bulk job with a rate, and the ends of its waits.

    The row is apart from the job, because the transaction of each page locks it: a pause of the job
    does not wait for a page.
    """

    job = models.OneToOneField(
        BulkJob, on_delete=models.CASCADE, primary_key=True, related_name="pace"
    )
    next_at = models.DateTimeField(null=True, help_text="Empty: no message has a slot yet.")
    test_group_ends_at = models.DateTimeField(
        null=True, help_text="The other recipients follow. Empty: the test group is incomplete."
    )
    sample_ends_at = models.DateTimeField(
        null=True, help_text="Choice of the winner. Empty: the sample is incomplete."
    )

    class Meta:
        db_table = "bulk_job_pace"

    def __str__(self) -> str:
        return f"pace of bulk job {self.job_id}"


class BulkLane(models.Model):
    """The shares of a lane: rows per bulk job."""

    pk = models.CompositePrimaryKey("mode", "priority", "channel")
    mode = models.SmallIntegerField(choices=MODES)
    priority = models.SmallIntegerField(choices=PRIORITIES)
    channel = models.SmallIntegerField(choices=CHANNELS)
    window = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Rows that may wait in the lane."
    )
    granted = models.JSONField(
        default=dict,
        db_default={},
        help_text="Job -> messages that the job may have created in total.",
    )
    divided_at = models.DateTimeField(null=True, help_text="Time of the last division.")

    class Meta:
        db_table = "bulk_lane"

    def __str__(self) -> str:
        return f"bulk jobs of lane {self.pk}"
