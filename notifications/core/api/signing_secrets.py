"""`/v1/recipients/{user_id}/contacts/{contact_id}/signing-secrets`: secrets of a webhook contact.

Only the call which creates a secret shows the secret. Later a fingerprint identifies the secret.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.api.base_view import raise_not_found
from notifications.core.api.examples import USER, Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.delivery import webhook_signing
from notifications.core.models import Contact
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.scopes import Scope
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


def _webhooks(call: Call) -> QuerySet[Contact]:
    recipient = call.recipient()
    return recipient.contacts.filter(channel=Channel.WEBHOOK)


WEBHOOKS: Final = Resource(
    noun="webhook contact",
    path="v1/recipients/<str:user_id>/contacts/<int:contact_id>",
    rows=_webhooks,
    answer=SigningSecrets,
    tag="Recipients",
)


@WEBHOOKS.read(
    "List the signing secrets of a webhook contact",
    Access(Scope.RECIPIENTS_READ, BOTH, "view_contact"),
    at="/signing-secrets",
    examples={
        "minimal": Example(
            "The secrets of a webhook contact", path={"user_id": USER, "contact_id": 53}
        ),
        "another": Example(
            "The secrets of a contact whose secret was rotated",
            path={"user_id": USER, "contact_id": 54},
        ),
    },
)
def list_signing_secrets(_call: Call, contact: Contact) -> SigningSecrets:
    """List the fingerprints of the active signing secrets."""
    now = clock.now()
    secrets = [
        SigningSecret(
            fingerprint=each.fingerprint,
            current=each.is_current,
            signs_until=each.signs_until,
        )
        for each in webhook_signing.secrets_of(contact, now=now)
    ]
    shared = contact.shared_secret_until if webhook_signing.is_shared(contact, now=now) else None
    return SigningSecrets(secrets=secrets, shared_secret_until=shared)


@WEBHOOKS.change(
    "POST /signing-secrets/rotate",
    "Rotate the signing secret of a webhook contact",
    Access(Scope.SECRETS_ROTATE, BOTH, "change_contact"),
    SecretRotation,
    answers={201: SecretRotated},
    locks=True,
    problems={Kind.CONFLICT},
    shows_secret=True,
    examples={
        "minimal": Example(
            "A new secret beside the old one", path={"user_id": USER, "contact_id": 53}, body={}
        ),
        "usual": Example(
            "A new secret although the last rotation is recent",
            path={"user_id": USER, "contact_id": 54},
            headers={"Idempotency-Key": "rotate-secret-54-2"},
            body={"end_overlap": True},
        ),
    },
)
def rotate_signing_secret(_call: Call, contact: Contact, wanted: SecretRotation) -> SecretRotated:
    """Create a new secret.

    The previous secret stays active for 7 days: update the receiver within this time.
    """
    _check_overlap(contact, wanted)
    made = webhook_signing.rotate(contact.pk)
    if made is None:
        raise_not_found(WEBHOOKS.noun)
    return SecretRotated(
        secret=made.text(),
        fingerprint=webhook_signing.fingerprint(made.key),
        old_secret_signs_until=clock.now() + webhook_signing.OVERLAP,
    )


def _check_overlap(contact: Contact, wanted: SecretRotation) -> None:
    """Refuse to end a secret which a receiver may still use.

    Raises:
        ProblemError: the previous secret is still active (409).
    """
    until = webhook_signing.overlap_until(contact, now=clock.now())
    if until is not None and not wanted.end_overlap:
        said = f"the previous secret is active until {until:%Y-%m-%dT%H:%M:%SZ}; wait"
        raise_problem(Problem(Kind.CONFLICT, f"{said}, or send end_overlap to end that secret now"))
