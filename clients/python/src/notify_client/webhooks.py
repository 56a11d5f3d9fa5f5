"""Verification of the service's webhooks (Standard Webhooks 1.0).

    webhook-id         the same on every attempt; deduplicate by this id
    webhook-timestamp  whole seconds since 1970
    webhook-signature  `v1,<base64>` of HMAC-SHA256 over `{id}.{timestamp}.{body}`, one or several

Specification: https://github.com/standard-webhooks/standard-webhooks
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, TypedDict

from notify_client import _timing
from notify_client.errors import NotifyError

_PREFIX: Final = "whsec_"
_TIMESTAMP: Final = re.compile("[0-9]{1,12}")
_SHORTEST: Final = 24
TOLERANCE: Final = timedelta(minutes=5)
"""The most that a timestamp may be away from this machine's clock."""


class InvalidSignature(NotifyError):
    """The signature is invalid: answer with 400 and ignore the request."""


class WebhookEvent(TypedDict):
    """The body of a webhook."""

    type: str
    timestamp: str
    data: dict[str, Any]
    """To a webhook contact: `notification_id`, `delivery_id`, `title`, `body` and the variables.

    To an endpoint of a producer, by the type: `NotificationEventData`, `ContactEventData` or
    `BulkJobEventData` of `notify_client.types`.
    """


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance: timedelta = TOLERANCE,
    now: datetime | None = None,
) -> WebhookEvent:
    """Verify a webhook and return its content.

    Args:
        body: the unchanged bytes of the request.
        headers: the headers of the request, in any case.
        secrets: `whsec_...`, or several during a rotation.
        tolerance: the largest difference between the timestamp and `now`.
        now: a time with a timezone; None uses this machine's clock.

    Raises:
        InvalidSignature: a header is missing, the timestamp is out of tolerance, or no signature
            matches.
        ValueError: a secret is not usable (the message does not repeat it), or the body is signed
            but no JSON object.
        TypeError: the body is not bytes.
    """
    if not isinstance(body, bytes):
        raise TypeError("the body must be the bytes that came, before any decoding")
    keys = [_key(each) for each in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("at least one secret is needed")
    found = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    if not message_id or not _TIMESTAMP.fullmatch(timestamp):
        raise InvalidSignature("webhook-id or webhook-timestamp is missing or malformed")
    clock = _timing.wall() if now is None else now.timestamp()
    if not abs(int(timestamp) - clock) <= tolerance.total_seconds():
        raise InvalidSignature("webhook-timestamp is too far from this machine's clock")
    signed = f"{message_id}.{timestamp}.".encode(errors="surrogateescape") + body
    _match(found.get("webhook-signature", ""), signed, keys)
    event: WebhookEvent = json.loads(body)
    if not isinstance(event, dict):
        raise ValueError("the body of the webhook is not a JSON object")  # noqa: TRY004 - the bytes have a wrong content, not a wrong type
    return event


def _match(said: str, signed: bytes, keys: Sequence[bytes]) -> None:
    given = [each.encode(errors="surrogateescape") for each in said.split()]
    expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, sha256)) for key in keys]
    matches = [hmac.compare_digest(one, other) for one in given for other in expected]
    if not any(matches):
        raise InvalidSignature("webhook-signature does not match")


def _key(secret: str) -> bytes:
    if not secret.startswith(_PREFIX):
        raise ValueError(f"a signing secret begins with {_PREFIX}")
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"the text after {_PREFIX} is invalid base64") from None
    if len(key) < _SHORTEST:
        raise ValueError(f"a signing secret has at least {_SHORTEST} bytes")
    return key
