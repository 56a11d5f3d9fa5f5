"""Uploaded files with their contents, and the recipients of a file that a few people got."""

from __future__ import annotations

from uuid import uuid4

from django.db import models

from notifications.core.models import Producer, Recipient
from notifications.core.models.choices import MODES
from notifications.core.rules.lane import Mode


class Attachment(models.Model):
    """A file that a producer uploaded, or a file of templates. Only this feature writes the table.

    Postgres stores a large content outside of the row and uncompressed, so an update of the row
    writes no content. The foreign keys cascade in the database: the migration makes them.
    """

    id = models.UUIDField(primary_key=True, default=uuid4)
    producer = models.ForeignKey(
        Producer,
        on_delete=models.DO_NOTHING,
        related_name="attachments",
        db_index=False,
        db_constraint=False,
        null=True,
        help_text="Empty: the file is of templates, and its id follows from digest and type.",
    )
    mode = models.SmallIntegerField(choices=MODES, default=Mode.LIVE, db_default=Mode.LIVE)
    digest = models.BinaryField(help_text="SHA-256 of the content.")
    type = models.CharField(max_length=100, help_text="Media type.")
    size = models.PositiveIntegerField(help_text="Bytes of the content.")
    content = models.BinaryField()
    recipient = models.ForeignKey(
        Recipient,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        related_name="attachments",
        help_text="The only recipient who got the file; the file is erased with the recipient.",
    )
    is_shared = models.BooleanField(
        default=False, db_default=False, help_text="Several recipients got the file."
    )
    promised_until = models.DateTimeField(
        null=True,
        help_text="The answer of the last upload promises the file until then; empty after a use.",
    )
    kept_until = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        app_label = "notifications"
        db_table = "attachment"
        indexes = (models.Index(fields=("kept_until",), name="attachment_expiry"),)
        constraints = (
            models.UniqueConstraint(
                fields=("producer", "mode", "digest", "type"), name="attachment_content"
            ),
        )

    def __str__(self) -> str:
        return f"{self.type}, {self.size} bytes"


class AttachmentRecipient(models.Model):
    """A recipient of a file that 2 to `rows.KNOWN_RECIPIENTS` people got.

    A file of more recipients is shared, belongs to no recipient, and has no such row. The rows go
    with the file, by a foreign key of the migration, and with an erasure of the recipient
    (`rows.erase`).
    """

    pk = models.CompositePrimaryKey("attachment_id", "recipient_id")
    attachment_id = models.UUIDField()
    recipient_id = models.BigIntegerField()

    class Meta:
        app_label = "notifications"
        db_table = "attachment_recipient"
        indexes = (models.Index(fields=("recipient_id",), name="attachment_of_recipient"),)

    def __str__(self) -> str:
        return f"{self.attachment_id} of {self.recipient_id}"
