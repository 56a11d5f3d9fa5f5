"""The e-mail services of django-anymail 15; a row has the differences of a service.

The classes of bounces are in `standings`.

The table omits two services of anymail. Amazon SES has a separate adapter with bulk calls.
MailerSend returns the message id in a header only and echoes no metadata, so no receipt could be
resolved to a delivery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson

Path = tuple[str | int, ...]
"""Keys and positions that lead to a value in a JSON document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnymailService:
    """A service. Options are anymail's settings, in lower case and without the service's name."""

    needs: frozenset[str]
    knows: frozenset[str] = frozenset()
    """Options that may be left out."""
    codes: tuple[Path, ...] = ()
    """Paths of the service's code in a response; the first path with a value counts."""
    view: str = ""
    """Name of anymail's view for the service's callbacks; empty: anymail has no view."""
    signed_with: frozenset[str] = frozenset()
    """Options that let the view verify a signature; a single option suffices."""
    inline_images: bool = True
    """The service's API has images that the HTML shows by a Content-ID."""
    invitations: bool = True
    """The API takes the type of a file with its METHOD, by which mail programs show buttons."""
    takes_basic_auth: bool = True
    """A user and password in the callback's URL suffice for the view."""


SERVICES: Final[Mapping[str, AnymailService]] = {
    "brevo": AnymailService(
        needs=frozenset({"api_key"}),
        knows=frozenset({"api_url"}),
        codes=(("code",),),
        view="BrevoTrackingWebhookView",
        inline_images=False,
        invitations=False,  # Brevo reads the type from the name
    ),
    "mailgun": AnymailService(
        needs=frozenset({"api_key"}),
        knows=frozenset({"api_url", "sender_domain", "webhook_signing_key"}),
        view="MailgunTrackingWebhookView",
        signed_with=frozenset({"api_key"}),  # the view's fallback
    ),
    "mailjet": AnymailService(
        needs=frozenset({"api_key", "secret_key"}),
        knows=frozenset({"api_url"}),
        codes=(("Messages", 0, "Errors", 0, "ErrorCode"), ("ErrorCode",)),
        view="MailjetTrackingWebhookView",
        invitations=False,  # anymail gives Mailjet the type without parameters
    ),
    "mailtrap": AnymailService(
        needs=frozenset({"api_token"}),
        knows=frozenset({"api_url", "sandbox_id", "tracking_secret"}),
        view="MailtrapTrackingWebhookView",
        signed_with=frozenset({"tracking_secret"}),
    ),
    "mandrill": AnymailService(
        needs=frozenset({"api_key"}),
        knows=frozenset({"api_url", "webhook_key", "webhook_url"}),
        codes=((0, "reject_reason"), ("name",)),
        view="MandrillCombinedWebhookView",
        signed_with=frozenset({"webhook_key"}),
        takes_basic_auth=False,
    ),
    "postal": AnymailService(
        needs=frozenset({"api_key", "api_url"}),
        knows=frozenset({"webhook_key"}),
        codes=(("data", "code"),),
        view="PostalTrackingWebhookView",
        inline_images=False,  # https://github.com/postalserver/postal/issues/2841
        signed_with=frozenset({"webhook_key"}),
        takes_basic_auth=False,
    ),
    "postmark": AnymailService(
        needs=frozenset({"server_token"}),
        knows=frozenset({"api_url", "message_stream"}),
        codes=(("ErrorCode",),),
        view="PostmarkTrackingWebhookView",
    ),
    "resend": AnymailService(
        needs=frozenset({"api_key"}),
        knows=frozenset({"api_url"}),
        codes=(("name",),),
        view="ResendTrackingWebhookView",
    ),
    "scaleway": AnymailService(
        needs=frozenset({"secret_key", "project_id"}),
        knows=frozenset({"api_url", "region"}),
        inline_images=False,
    ),
    "sendgrid": AnymailService(
        needs=frozenset({"api_key"}),
        knows=frozenset({"api_url", "tracking_webhook_verification_key"}),
        view="SendGridTrackingWebhookView",
        signed_with=frozenset({"tracking_webhook_verification_key"}),
    ),
    "sparkpost": AnymailService(
        needs=frozenset({"api_key"}),
        knows=frozenset({"api_url", "subaccount"}),
        codes=(("errors", 0, "code"),),
        view="SparkPostTrackingWebhookView",
    ),
    "unisender_go": AnymailService(
        needs=frozenset({"api_key", "api_url"}),
        codes=(("code",),),
        view="UnisenderGoTrackingWebhookView",
        signed_with=frozenset({"api_key"}),
    ),
}


def value_at(document: object, path: Path) -> str:
    """Return the scalar at a path as text; empty: no scalar is at the path."""
    for step in path:
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return ""
    return str(document) if isinstance(document, str | int) else ""


def code_in(body: bytes, service: AnymailService) -> str:
    """Return the service's code from a response's body; empty: the body has no code."""
    if not service.codes:
        return ""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    return next(filter(None, (value_at(document, path) for path in service.codes)), "")
