"""The inbox: a recipient's in-app messages. Only `features.inbox.rows` writes these tables.

An erasure deletes the rows also without the app of the inbox (`store.postgres.erasure`).
"""

from __future__ import annotations

from django.db import models
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Least

from notifications.core.rules.inbox_states import InboxState


class Inbox(models.Model):
    """The head of a recipient's inbox: the version and exact counts. Each write locks the row."""

    recipient_id = models.BigIntegerField(primary_key=True)
    version = models.BigIntegerField(
        db_default=0, help_text="Grows by one with each committed change of the inbox."
    )
    oldest_version = models.BigIntegerField(
        db_default=0,
        help_text="Changes before this version are incomplete, because items were deleted by age.",
    )
    unseen = models.IntegerField(db_default=0)
    unread = models.IntegerField(db_default=0, help_text="Includes unseen items.")
    total = models.IntegerField(
        db_default=0, help_text="Neither archived nor snoozed; a group counts as one."
    )
    categories = models.JSONField(
        default=dict, db_default={}, help_text="Category -> [unseen, unread], without zeros."
    )
    next_change_at = models.DateTimeField(
        null=True, help_text="No item expires and no snooze ends before this time."
    )

    class Meta:
        """The index serves the sweep of expired items and ended snoozes."""

        db_table = "inbox"
        indexes = (
            models.Index(
                fields=("next_change_at",),
                condition=Q(next_change_at__isnull=False),
                name="inbox_next_change",
            ),
        )

    def __str__(self) -> str:
        return f"inbox of recipient {self.pk}"


class InboxItem(models.Model):
    """An in-app message in the inbox of its recipient; the id is the id of the delivery.

    A removed item stays as a row without a place in a tab until the retention ends, so that clients
    learn of the removal.
    """

    id = models.UUIDField(primary_key=True)
    recipient_id = models.BigIntegerField()
    notification_id = models.UUIDField()
    type = models.CharField(max_length=128)
    category = models.CharField(max_length=64)
    title = models.TextField()
    body = models.TextField()
    url = models.TextField(db_default="")
    image_url = models.TextField(db_default="")
    actions = models.JSONField(default=list, db_default=[])
    data = models.JSONField(default=dict, db_default={})
    collapse_key = models.CharField(max_length=255, db_default="")
    group_id = models.UUIDField(
        null=True, help_text="Id of the group's first item; empty without a collapse key."
    )
    group_size = models.IntegerField(
        db_default=1, help_text="Items of the group; exact for the item that is not superseded."
    )
    superseded_by = models.UUIDField(
        null=True, help_text="The item that stands for the group instead of this item."
    )
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    added_version = models.BigIntegerField(
        help_text="Version of the inbox at the arrival, or at the end of the last snooze."
    )
    version = models.BigIntegerField(help_text="Version of the inbox at the last change.")
    seen_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    removal = models.CharField(max_length=16, db_default="", help_text="Cause of the removal.")
    state = models.GeneratedField(
        expression=Case(
            When(
                Q(removed_at__isnull=False) | Q(superseded_by__isnull=False),
                then=Value(InboxState.GONE.value),
            ),
            When(archived_at__isnull=False, then=Value(InboxState.ARCHIVED.value)),
            When(snoozed_until__isnull=False, then=Value(InboxState.SNOOZED.value)),
            When(read_at__isnull=False, then=Value(InboxState.READ.value)),
            When(seen_at__isnull=False, then=Value(InboxState.UNREAD.value)),
            default=Value(InboxState.UNSEEN.value),
        ),
        output_field=models.SmallIntegerField(),
        db_persist=True,
    )
    due_at = models.GeneratedField(
        expression=Case(
            When(removed_at__isnull=True, then=Least(F("expires_at"), F("snoozed_until")))
        ),
        output_field=models.DateTimeField(null=True),
        db_persist=True,
        help_text="The item expires or its snooze ends at this time.",
    )

    class Meta:
        """Indexes.

        inbox_item_tab       pages of all tabs: a tab merges its states in the order of arrival
        inbox_item_changes   changes since a version
        inbox_item_group     the item of a collapse key that is not superseded
        inbox_item_member    the items of a group
        inbox_item_due       items that expire, ends of snoozes
        """

        db_table = "inbox_item"
        indexes = (
            models.Index(
                fields=("recipient_id", "state", "-added_version", "-id", "category"),
                condition=Q(state__lt=InboxState.GONE.value),
                name="inbox_item_tab",
            ),
            models.Index(fields=("recipient_id", "version"), name="inbox_item_changes"),
            models.Index(
                fields=("recipient_id", "collapse_key", "-added_version", "-id"),
                condition=~Q(collapse_key="")
                & Q(superseded_by__isnull=True, removed_at__isnull=True),
                name="inbox_item_group",
            ),
            models.Index(
                fields=("group_id", "-added_version", "-id"),
                condition=Q(group_id__isnull=False),
                name="inbox_item_member",
            ),
            models.Index(
                fields=("recipient_id", "due_at"),
                condition=Q(due_at__isnull=False),
                name="inbox_item_due",
            ),
        )

    def __str__(self) -> str:
        return str(self.id)


class InboxReport(models.Model):
    """An item that was seen or read and whose delivery does not have the new status yet."""

    item_id = models.UUIDField(primary_key=True)
    recipient_id = models.BigIntegerField()
    due_at = models.DateTimeField(help_text="Time of the next try; a claim moves the time.")

    class Meta:
        """Due reports by time, and the reports of a recipient."""

        db_table = "inbox_report"
        indexes = (
            models.Index(fields=("due_at",), name="inbox_report_due"),
            models.Index(fields=("recipient_id",), name="inbox_report_recipient"),
        )

    def __str__(self) -> str:
        return f"report of inbox item {self.item_id}"


class InboxUncleared(models.Model):
    """A recipient whose entry in the state Redis a writer could not clear; a sweep clears it."""

    recipient_id = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        db_table = "inbox_uncleared"

    def __str__(self) -> str:
        return f"uncleared entry of recipient {self.recipient_id}"
