"""Standard Webhooks signatures: for outgoing webhooks and for the sandbox's receipts.

    webhook-id         the same on every retry: the receiver's key against duplicates
    webhook-timestamp  whole seconds since 1970, new on every attempt
    webhook-signature  `v1,<base64>` of HMAC-SHA256 over `{id}.{timestamp}.{body}`, one per valid
    secret

Several secrets sign together during a rotation, and any match verifies.
Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Self

from providers.errors import InvalidSignature
from providers.hmac_sha256 import hmac_sha256

PREFIX: Final = "whsec_"
HEADERS: Final = frozenset({"webhook-id", "webhook-timestamp", "webhook-signature"})
"""Header names in lower case; each request has all three headers."""

TOLERANCE: Final = timedelta(minutes=5)
"""Largest difference of a timestamp from now: a longer time helps a replayed request, a shorter
time refuses senders with a bad clock."""

_TIMESTAMP: Final = re.compile("[0-9]{1,12}")
"""Seconds for the next 30,000 years. Python raises for the number that thousands of digits are."""

SHORTEST_SECRET_BYTES: Final = 24
LONGEST_SECRET_BYTES: Final = 64
"""Limits from the specification."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A signing secret, shown to people as `whsec_<base64>`."""

    key: bytes = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `whsec_<base64>`.

        Raises:
            ValueError: the text is no secret; the message does not repeat the text.
        """
        if not text.startswith(PREFIX):
            raise ValueError(f"a signing secret starts with {PREFIX}")
        try:
            key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
        except binascii.Error as error:
            raise ValueError(f"what follows {PREFIX} is not base64") from error
        if not SHORTEST_SECRET_BYTES <= len(key) <= LONGEST_SECRET_BYTES:
            raise ValueError(
                f"a signing secret has {SHORTEST_SECRET_BYTES} to {LONGEST_SECRET_BYTES} bytes"
            )
        return cls(key)

    def __str__(self) -> str:
        return "whsec_..."

    def text(self) -> str:
        """Return the text for the receiver, `whsec_<base64>`."""
        return PREFIX + base64.b64encode(self.key).decode()

    def signature(self, signed: bytes) -> str:
        """Sign the bytes `{id}.{timestamp}.{body}`."""
        return "v1," + base64.b64encode(hmac_sha256(self.key, signed)).decode()


def sign(
    body: bytes, *, message_id: str, at: datetime, secrets: Sequence[Secret]
) -> dict[str, str]:
    """Return the three headers for a body; sign exactly the bytes that are sent."""
    timestamp = int(at.timestamp())
    signed = _sign(body, message_id=message_id, timestamp=str(timestamp))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(secret.signature(signed) for secret in secrets),
    }


def verify(
    body: bytes, *, headers: Mapping[str, str], secrets: Sequence[Secret], now: datetime
) -> None:
    """Check a request; `headers` have names in lower case.

    Raises:
        InvalidSignature: a header is missing, the timestamp is off, or no signature matches.
    """
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not message_id or not _TIMESTAMP.fullmatch(timestamp):
        raise InvalidSignature("webhook-id or webhook-timestamp is missing or malformed")
    if abs(int(timestamp) - now.timestamp()) > TOLERANCE.total_seconds():
        raise InvalidSignature("webhook-timestamp is too far from our clock")
    signed = _sign(body, message_id=message_id, timestamp=timestamp)
    given = headers.get("webhook-signature", "").encode().split()
    expected = [secret.signature(signed).encode() for secret in secrets]
    if not any(hmac.compare_digest(one, other) for one in given for other in expected):
        raise InvalidSignature("webhook-signature does not match")


def _sign(body: bytes, *, message_id: str, timestamp: str) -> bytes:
    return b"%b.%b.%b" % (message_id.encode(), timestamp.encode(), body)
