"""`/v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets`: what signs a webhook contact.

A secret is shown once, by the call that makes it. Later its fingerprint tells which one a receiver
has.
"""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import clock
from notifications.api.authentication import actor_of
from notifications.api.base_view import MAX_ID, Door, absent, shaped
from notifications.api.idempotency import idempotent
from notifications.api.problems import refuse
from notifications.api.recipients import known
from notifications.api.schemas import Answer, Asked
from notifications.delivery import webhook_signing
from notifications.models import Contact
from notifications.rules.problems import Kind, Problem
from notifications.store.postgres import audit
from providers.contract import Channel


class SigningSecret(Answer):
    """A secret that signs now."""

    fingerprint: str
    """The first 16 hexadecimal digits of the SHA-256 of the secret's bytes."""
    current: bool
    """It was made last."""
    signs_until: dt.datetime | None
    """null: until the next rotation, or until its encryption key is removed."""


class SigningSecrets(Answer):
    """All secrets that sign the webhooks of a contact."""

    secrets: list[SigningSecret]
    """The newest first. Each webhook has a signature of each."""
    shared_secret_until: dt.datetime | None
    """Until when the secret of all receivers signs too; null: it does not."""


class SecretRotation(Asked):
    """What may end."""

    end_overlap: bool = False
    """Rotate although the secret before the current one still signs, and end that one at once."""


class SecretRotated(Answer):
    """The new secret. It is shown once, and again to a repeat with the same Idempotency-Key."""

    secret: str
    """`whsec_` and base64, as Standard Webhooks writes secrets."""
    fingerprint: str
    old_secret_signs_until: dt.datetime


class Secrets(Door):
    """The secrets of one contact."""

    @extend_schema(
        operation_id="list_signing_secrets",
        summary="List what signs a webhook contact",
        responses={200: SigningSecrets},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str, contact_id: int) -> Response:
        """Fingerprints, not secrets."""
        contact, now = _webhook(request, user_id, contact_id).first(), clock.now()
        if contact is None:
            absent("webhook contact")
        secrets = [
            SigningSecret(
                fingerprint=each.fingerprint,
                current=each.is_current,
                signs_until=each.signs_until,
            )
            for each in webhook_signing.secrets_of(contact, now=now)
        ]
        shared = (
            contact.shared_secret_until if webhook_signing.is_shared(contact, now=now) else None
        )
        return Response(SigningSecrets(secrets=secrets, shared_secret_until=shared).wire())


class RotateSecret(Door):
    """Rotating."""

    @extend_schema(
        operation_id="rotate_signing_secret",
        summary="Give a webhook contact a new signing secret",
        request=SecretRotation,
        responses={201: SecretRotated},
        tags=["Recipients"],
    )
    @idempotent
    def post(self, request: Request, user_id: str, contact_id: int) -> Response:
        """The secret before signs for 7 days more: change the receiver within that time."""
        wanted = shaped(request.data, SecretRotation)
        rows = _webhook(request, user_id, contact_id)
        with transaction.atomic():
            contact = rows.select_for_update(of=("self",)).first()
            if contact is None:
                absent("webhook contact")
            _check_overlap(contact, wanted)
            with audit.changes(actor_of(request), "rotate_signing_secret", rows):
                made = webhook_signing.rotate(contact.pk)
        if made is None:
            absent("webhook contact")
        told = SecretRotated(
            secret=made.shown(),
            fingerprint=webhook_signing.fingerprint(made.key),
            old_secret_signs_until=clock.now() + webhook_signing.OVERLAP,
        )
        answer = Response(told.wire(), status=201)
        answer["Cache-Control"] = "no-store"
        return answer


def _check_overlap(contact: Contact, wanted: SecretRotation) -> None:
    """Refuse to end a secret that a receiver may still have.

    Raises:
        Refusal: the secret before the current one still signs (409).
    """
    until = webhook_signing.overlap_until(contact, now=clock.now())
    if until is not None and not wanted.end_overlap:
        said = f"the secret before the current one signs until {until:%Y-%m-%dT%H:%M:%SZ}; wait"
        refuse(Problem(Kind.CONFLICT, f"{said}, or send end_overlap to end it now"))


def _webhook(request: Request, user_id: str, contact_id: int) -> QuerySet[Contact]:
    found = known(request, user_id).contacts.filter(pk=min(contact_id, MAX_ID))
    return found.filter(channel=Channel.WEBHOOK)
