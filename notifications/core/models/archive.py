"""The archive of days past retention: the state of each day, its files, and the keys of people."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from notifications.core.rules.roles import permissions_of


class ArchiveState(models.TextChoices):
    """The progress of a day past retention."""

    WAITING = "waiting", "waits for open deliveries"
    EXPORTING = "exporting", "files are written and verified"
    DROPPING = "dropping", "verified; partitions are dropped"
    ARCHIVED = "archived", "in the archive only"
    NOT_ARCHIVED = "not_archived", "dropped without an archive (NOTIFY_ARCHIVE_URL=off)"
    EXPIRED = "expired", "deleted from the archive"


class ArchiveDay(models.Model):
    """A day past retention. The row stays after the archive's own retention, as evidence."""

    day = models.DateField(primary_key=True, help_text="UTC day of the notifications' ids.")
    state = models.CharField(
        max_length=16,
        choices=ArchiveState.choices,
        default=ArchiveState.EXPORTING,
        db_default=ArchiveState.EXPORTING,
    )
    lease_token = models.UUIDField(null=True, help_text="The process that works on the day.")
    leased_until = models.DateTimeField(
        null=True, help_text="After this time another process may continue the day."
    )
    started_at = models.DateTimeField(auto_now_add=True)
    dropped_at = models.DateTimeField(null=True, help_text="The partitions were dropped.")
    expired_at = models.DateTimeField(null=True, help_text="The files were deleted.")
    problem = models.CharField(max_length=500, blank=True, help_text="Error of the last try.")

    class Meta:
        """The table has one row a day, so the primary key serves all queries."""

        db_table = "archive_day"
        ordering = ("-day",)
        permissions = permissions_of("archiveday")

    def __str__(self) -> str:
        return self.day.isoformat()


class ArchiveFile(models.Model):
    """A Parquet file of a day and table. `fingerprint` and `rows` are those of the database."""

    day = models.ForeignKey(ArchiveDay, on_delete=models.CASCADE, related_name="files")
    table = models.CharField(
        max_length=16, help_text="notification, delivery, attempt, event, or key: the key index."
    )
    name = models.CharField(max_length=200, help_text="Name below NOTIFY_ARCHIVE_URL.")
    rows = models.BigIntegerField()
    bytes = models.BigIntegerField(help_text="Size of the file.")
    sha256 = models.CharField(max_length=64)
    fingerprint = models.BigIntegerField(
        null=True, help_text="XOR of the hashes of all rows of the partition; empty for the index."
    )
    checksums = models.JSONField(help_text="Column -> CRC-32 of the values that were written.")
    written_at = models.DateTimeField(auto_now_add=True)
    verified_at = models.DateTimeField(
        null=True, help_text="The file was read back and equals the database."
    )

    class Meta:
        """The constraint allows one file of a day and table."""

        db_table = "archive_file"
        ordering = ("day_id", "table")
        constraints = (
            models.UniqueConstraint(fields=("day", "table"), name="archive_file_once_per_table"),
        )

    def __str__(self) -> str:
        return self.name


class ArchiveKey(models.Model):
    """The key of a recipient's personal data in the archive; the erasure deletes the row."""

    recipient_id = models.BigIntegerField(primary_key=True)
    sealed = models.BinaryField(
        max_length=60, help_text="256-bit key, encrypted by NOTIFY_ENCRYPTION_KEYS."
    )
    created_at = models.DateTimeField(auto_now_add=True, db_default=Now())

    class Meta:
        """The primary key serves the export and the erasure."""

        db_table = "archive_key"

    def __str__(self) -> str:
        return f"archive key of recipient {self.recipient_id}"
