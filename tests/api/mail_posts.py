"""Callbacks of the mail services as HTTP requests, signed as each service signs."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

import orjson
from django.test import Client

from tests.api.callback_classes import Event
from tests.providers.aws.signed_posts import Signer
from tests.providers.email.anymail.services_fake import PASSWORD, TOKEN
from tests.providers.email.anymail.test_standings import OPTIONS, WRITE, Callback, in_json
from tests.providers.email.ses import test_settings as ses

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

SNS: Final = Signer()
MESSAGE_ID: Final = "1"
"""The services' own id in every callback."""


class SentMail(NamedTuple):
    """The message that a callback is about."""

    delivery_id: UUID
    address: str
    at: dt.datetime
    """Time of the event."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the services repeat of the request."""
        return {"delivery_id": str(self.delivery_id)}

    @property
    def text(self) -> str:
        """The metadata as JSON in a text."""
        return orjson.dumps(self.metadata).decode()

    @property
    def seconds(self) -> int:
        """Seconds since 1970."""
        return int(self.at.timestamp())


def _mandrill(event: Event, sent: SentMail) -> Event:
    if "msg" not in event:
        return {
            **event,
            "ts": sent.seconds,
            "reject": {"reason": "hard-bounce", "email": sent.address},
        }
    message = {**event["msg"], "email": sent.address, "metadata": sent.metadata}
    return {**event, "ts": sent.seconds, "msg": message}


def _postmark(event: Event, sent: SentMail) -> Event:
    fields = {"Recipient": sent.address, "ChangedAt": sent.at.isoformat()}
    return {**fields, "Metadata": sent.metadata, **event}


def _resend(event: Event, sent: SentMail) -> Event:
    headers = [{"name": "X-Metadata", "value": sent.text}]
    data = {**event.get("data", {}), "to": [sent.address], "headers": headers}
    return {**event, "created_at": sent.at.isoformat(), "data": data}


def _unisender(event: Event, sent: SentMail) -> Event:
    at = sent.at.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
    return {**event, "metadata": sent.metadata, "email": sent.address, "event_time": at}


def _sendgrid(event: Event, sent: SentMail) -> Event:
    return {**event, **sent.metadata, "email": sent.address, "timestamp": sent.seconds}


def _sparkpost(event: Event, sent: SentMail) -> Callback:
    [(name, fields)] = event.items()
    about = {
        "transmission_id": MESSAGE_ID,
        "rcpt_meta": sent.metadata,
        "raw_rcpt_to": sent.address,
        "timestamp": str(sent.seconds),
    }
    return in_json([{"msys": {name: {**about, **fields}}}])


def _ses(event: Event, sent: SentMail) -> Callback:
    [(name, said)] = event.items()
    at = {"timestamp": sent.at.isoformat()}
    tags = {"delivery_id": [str(sent.delivery_id)]}
    mail = {**at, "messageId": MESSAGE_ID, "destination": [sent.address], "tags": tags}
    text = orjson.dumps({"eventType": name, "mail": mail, name.lower(): {**at, **said}})
    headers = {"x-amz-sns-message-type": "Notification", "content-type": "text/plain"}
    return Callback(orjson.dumps(SNS.post(text.decode())), headers)


ABOUT: Final[Mapping[str, Callable[[Event, SentMail], Event]]] = {
    "brevo": lambda event, sent: {
        **event,
        "email": sent.address,
        "ts_epoch": sent.seconds * 1000,
        "X-Mailin-custom": sent.text,
    },
    "mailgun": lambda event, sent: {
        **event,
        "recipient": sent.address,
        "timestamp": sent.seconds,
        "user-variables": sent.metadata,
    },
    "mailjet": lambda event, sent: {
        **event,
        "email": sent.address,
        "time": sent.seconds,
        "Payload": sent.text,
    },
    "mailtrap": lambda event, sent: {
        **event,
        "email": sent.address,
        "timestamp": sent.seconds,
        "custom_variables": sent.metadata,
    },
    "mandrill": _mandrill,
    "postal": lambda event, _sent: event,  # repeats nothing of the request
    "postmark": _postmark,
    "resend": _resend,
    "sendgrid": _sendgrid,
    "unisender_go": _unisender,
}
"""Adds the message to an event, where the service repeats the message."""

_WHOLE: Final = {"ses": _ses, "sparkpost": _sparkpost}


def settings(vendor: str) -> Mapping[str, str]:
    """Return the environment variables of a service."""
    if vendor == "ses":
        return {**ses.SETTINGS, "NOTIFY_SES_PER_SECOND": "14"}
    return {
        "NOTIFY_ANYMAIL_ESP": vendor,
        "NOTIFY_ANYMAIL_OPTIONS": orjson.dumps(OPTIONS.get(vendor, {"api_key": TOKEN})).decode(),
        "NOTIFY_ANYMAIL_FROM": "Shop <no-reply@shop.example>",
        "NOTIFY_ANYMAIL_WEBHOOK_SECRET": PASSWORD,
    }


def provider_of(vendor: str) -> str:
    """Return the name of the provider with a service."""
    return "ses" if vendor == "ses" else "anymail"


def post(vendor: str, event: Event, sent: SentMail) -> Reply:
    """Post a callback to the HTTP door."""
    if vendor in _WHOLE:
        body, headers = _WHOLE[vendor](event, sent)
    else:
        body, headers = WRITE[vendor](ABOUT[vendor](event, sent))
    login = base64.b64encode(PASSWORD.encode()).decode()
    given = {"content-type": "application/json", "authorization": f"Basic {login}", **headers}
    return Client().post(
        f"/v1/receipts/{provider_of(vendor)}",
        body,
        content_type=given.pop("content-type"),
        headers=given,
    )
