"""Token secrets of producers, and revocations of recipient tokens."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from notifications.core.models.choices import MODES
from notifications.core.models.producer import Producer


class TokenSecret(models.Model):
    """A secret with which a producer signs recipient tokens without a call to the service.

    The secret itself is derived from the encryption keys and `key_id`, so no row holds a secret.
    """

    producer = models.ForeignKey(Producer, on_delete=models.CASCADE, related_name="token_secrets")
    key_id = models.CharField(
        max_length=24, unique=True, help_text="The kid of the tokens; the start of the secret."
    )
    fingerprint = models.CharField(
        max_length=16, help_text="Start of the SHA-256 of the secret; finds the encryption key."
    )
    mode = models.SmallIntegerField(choices=MODES)
    scopes = ArrayField(
        models.CharField(max_length=32), help_text="Scopes that the secret may give to a token."
    )
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150, blank=True)
    replaces = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="replaced_by",
        help_text="The secret replaced by this secret.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=150, blank=True)

    class Meta:
        db_table = "token_secret"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        """Return the visible part of the secret."""
        return f"{self.key_id}…"


class TokenRevocation(models.Model):
    """The revocation of all tokens of a recipient that were issued up to an instant.

    Housekeeping deletes the row after a day, when all these tokens have expired.
    """

    recipient_id = models.BigIntegerField(primary_key=True)
    revoked_before = models.DateTimeField(help_text="Tokens issued later are valid.")
    noted_at = models.DateTimeField(help_text="Time of the write; processes read new rows by it.")

    class Meta:
        """The index serves the processes, which read the newest rows each second."""

        db_table = "token_revocation"
        indexes = (models.Index(fields=("noted_at",), name="token_revocation_noted"),)

    def __str__(self) -> str:
        return f"tokens of recipient {self.pk}"
