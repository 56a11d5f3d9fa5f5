"""Audiences: attributes of recipients, topics with subscribers, recipient lists, expressions."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from notifications.core.models.choices import MODES
from notifications.core.rules.attributes import AttributeKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind, ListState


class Attribute(models.Model):
    """The definition of an attribute of recipients, for both modes. The kind never changes."""

    name = models.CharField(max_length=64, unique=True)
    kind = models.CharField(
        max_length=8, choices=[(each.value, each.value) for each in AttributeKind]
    )
    description = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150)

    class Meta:
        db_table = "attribute"
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Topic(models.Model):
    """A named group of recipients, who are the subscribers of the topic.

    A preference topic is another thing: a category or notification type on the preference page.
    """

    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    name = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150)
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="A sweep removes the subscribers, and then the topic."
    )

    class Meta:
        """A deleted topic frees its name at once."""

        db_table = "topic"
        constraints = (
            models.UniqueConstraint(
                fields=("mode", "name"), condition=Q(deleted_at=None), name="topic_once_per_mode"
            ),
        )

    def __str__(self) -> str:
        return self.name


class TopicSubscriber(models.Model):
    """A recipient in a topic. The primary key is the only index, because a topic may be large."""

    pk = models.CompositePrimaryKey("topic_id", "recipient_id")
    topic_id = models.BigIntegerField()
    recipient_id = models.BigIntegerField()

    class Meta:
        db_table = "topic_subscriber"

    def __str__(self) -> str:
        return f"recipient {self.recipient_id} in topic {self.topic_id}"


class RecipientList(models.Model):
    """A fixed set of recipients: an uploaded file, or a snapshot of an audience expression.

    A list is used only in the state `ready`. Each chunk of a list is a transaction, which also sets
    `touched_at`; a list that is still `loading` long after that becomes `failed`.
    """

    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    kind = models.CharField(max_length=8, choices=[(each.value, each.value) for each in ListKind])
    name = models.CharField(max_length=100, blank=True)
    state = models.CharField(
        max_length=8,
        choices=[(each.value, each.value) for each in ListState],
        default=ListState.LOADING,
        db_default=ListState.LOADING,
    )
    state_reason = models.CharField(max_length=300, blank=True)
    columns = ArrayField(
        models.CharField(max_length=64),
        default=list,
        db_default=[],
        blank=True,
        help_text="Upload: names of the variables of each recipient.",
    )
    expression = models.JSONField(null=True, blank=True, help_text="Snapshot: whom the list has.")
    cursor = models.BigIntegerField(
        default=0, db_default=0, help_text="Snapshot: done up to this recipient."
    )
    until = models.BigIntegerField(
        default=0, db_default=0, help_text="Snapshot: last possible recipient."
    )
    lines = models.BigIntegerField(
        default=0, db_default=0, help_text="Upload: lines with a recipient."
    )
    members = models.BigIntegerField(default=0, db_default=0)
    duplicates = models.BigIntegerField(
        default=0, db_default=0, help_text="Upload: repeats of a recipient."
    )
    unknown = models.BigIntegerField(default=0, db_default=0, help_text="Upload: unknown user ids.")
    faults = models.JSONField(
        default=list, db_default=[], help_text="Upload: the first faults, with the line."
    )
    fault_counts = models.JSONField(
        default=dict, db_default={}, help_text="Upload: kind of fault -> lines."
    )
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=150)
    touched_at = models.DateTimeField(help_text="Last progress.")
    ready_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(help_text="A sweep deletes the list after this time.")
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """The index serves the list of a kind, newest first."""

        db_table = "recipient_list"
        ordering = ("-id",)
        indexes = (models.Index(fields=("mode", "kind", "-id"), name="recipient_list_by_kind"),)

    def __str__(self) -> str:
        return self.name or f"{self.kind} {self.pk}"


class RecipientListMember(models.Model):
    """A recipient in a recipient list, with the variables of the uploaded line."""

    pk = models.CompositePrimaryKey("list_id", "recipient_id")
    list_id = models.BigIntegerField()
    recipient_id = models.BigIntegerField()
    variables = models.JSONField(null=True, blank=True)

    class Meta:
        db_table = "recipient_list_member"

    def __str__(self) -> str:
        return f"recipient {self.recipient_id} in list {self.list_id}"


class Audience(models.Model):
    """A saved audience expression."""

    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=300, blank=True)
    expression = models.JSONField(help_text="Audience expression: whom the audience has.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150)
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.CharField(max_length=150)

    class Meta:
        db_table = "audience"
        constraints = (
            models.UniqueConstraint(fields=("mode", "name"), name="audience_once_per_mode"),
        )

    def __str__(self) -> str:
        return self.name
