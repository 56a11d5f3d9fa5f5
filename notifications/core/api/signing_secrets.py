"""`/v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets`: secrets of a webhook contact.

Only the call which creates a secret shows the secret. Later a fingerprint identifies the secret.
"""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api.authentication import actor_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipients import get_recipient
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.delivery import webhook_signing
from notifications.core.models import Contact
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.postgres import audit
from providers.contract import Channel


class SigningSecret(ResponseModel):
    """An active signing secret."""

    fingerprint: str
    """The first 16 hexadecimal digits of the SHA-256 of the secret's bytes."""
    current: bool
    """True for the newest secret."""
    signs_until: dt.datetime | None
    """null: until the next rotation, or until removal of the encryption key."""


class SigningSecrets(ResponseModel):
    """All active signing secrets of a contact."""

    secrets: list[SigningSecret]
    """Newest first. Every webhook has a signature for every active secret."""
    shared_secret_until: dt.datetime | None
    """End of the signatures with the secret shared by all receivers; null: already ended."""


class SecretRotation(RequestModel):
    """Options of a rotation."""

    end_overlap: bool = False
    """Rotate while the previous secret is still active, and end the previous secret at once."""


class SecretRotated(ResponseModel):
    """The new secret.

    The response shows the secret once; a repeat with the same Idempotency-Key shows the secret
    again.
    """

    secret: str
    """`whsec_` and base64, as in Standard Webhooks."""
    fingerprint: str
    old_secret_signs_until: dt.datetime


class SigningSecretListView(BaseView):
    """`/v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets`: list secrets."""

    @extend_schema(
        operation_id="list_signing_secrets",
        summary="List the signing secrets of a webhook contact",
        responses={200: SigningSecrets},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str, contact_id: int) -> Response:
        """List the fingerprints of the active signing secrets."""
        contact, now = _webhook(request, user_id, contact_id).first(), clock.now()
        if contact is None:
            raise_not_found("webhook contact")
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
        return Response(SigningSecrets(secrets=secrets, shared_secret_until=shared).to_json())


class SigningSecretRotateView(BaseView):
    """`.../signing-secrets/rotate`: rotate the secret."""

    @extend_schema(
        operation_id="rotate_signing_secret",
        summary="Rotate the signing secret of a webhook contact",
        request=SecretRotation,
        responses={201: SecretRotated},
        tags=["Recipients"],
    )
    @idempotent
    def post(self, request: Request, user_id: str, contact_id: int) -> Response:
        """Create a new secret.

        The previous secret stays active for 7 days: update the receiver within this time.
        """
        wanted = parse_body(request.data, SecretRotation)
        rows = _webhook(request, user_id, contact_id)
        with transaction.atomic():
            contact = rows.select_for_update(of=("self",)).first()
            if contact is None:
                raise_not_found("webhook contact")
            _check_overlap(contact, wanted)
            with audit.changes(actor_of(request), "rotate_signing_secret", rows):
                made = webhook_signing.rotate(contact.pk)
        if made is None:
            raise_not_found("webhook contact")
        told = SecretRotated(
            secret=made.text(),
            fingerprint=webhook_signing.fingerprint(made.key),
            old_secret_signs_until=clock.now() + webhook_signing.OVERLAP,
        )
        answer = Response(told.to_json(), status=201)
        answer["Cache-Control"] = "no-store"
        return answer


def _check_overlap(contact: Contact, wanted: SecretRotation) -> None:
    """Refuse to end a secret which a receiver may still use.

    Raises:
        ProblemError: the previous secret is still active (409).
    """
    until = webhook_signing.overlap_until(contact, now=clock.now())
    if until is not None and not wanted.end_overlap:
        said = f"the previous secret is active until {until:%Y-%m-%dT%H:%M:%SZ}; wait"
        raise_problem(Problem(Kind.CONFLICT, f"{said}, or send end_overlap to end that secret now"))


def _webhook(request: Request, user_id: str, contact_id: int) -> QuerySet[Contact]:
    found = get_recipient(request, user_id).contacts.filter(pk=min(contact_id, MAX_ID))
    return found.filter(channel=Channel.WEBHOOK)
