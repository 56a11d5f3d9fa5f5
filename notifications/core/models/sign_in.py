"""Operators' admin sessions, and their identities at an identity provider."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SignIn(models.Model):
    """A session of an operator, open until the end of the session or the expiry."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_ins"
    )
    session_key = models.CharField(max_length=40, unique=True, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now_add=True, help_text="Last used, to the minute.")
    address = models.GenericIPAddressField(null=True, blank=True)
    agent = models.CharField(
        max_length=200, blank=True, help_text="User-Agent header of the browser."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = "session"

    def __str__(self) -> str:
        """Return the id; the session key is a secret."""
        return f"session {self.pk}"


class ExternalIdentity(models.Model):
    """The person at an identity provider (OpenID Connect) who signs in to an account.

    Issuer and subject select the account. An e-mail address does not.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities"
    )
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """A person has one account; an account may have several identities."""

        verbose_name_plural = "external identities"
        constraints = (
            models.UniqueConstraint(fields=("issuer", "subject"), name="one_account_per_identity"),
        )

    def __str__(self) -> str:
        """Return the id; the subject is personal data."""
        return f"external identity {self.pk}"
