"""Vonage's delivery receipts, and texts that people send, signed in one of two ways.

    Authorization: Bearer <JWT>   HS256; its claim `payload_hash` is the body's SHA-256, in hex
    sig=<hex> among the fields    HMAC over all other fields, `&name=value`, sorted by name

Vonage signs once its support has turned signing on for the account; the dashboard then chooses the
method (HMAC with SHA-256 or SHA-512: MD5 is not taken), and the webhook's format has to be POST
or POST-JSON. Unsigned receipts are refused.

Both webhooks of the dashboard, receipts and inbound, get the same address, .../v1/receipts/vonage:
a receipt has a status, a text has a text.

A receipt's own time is not checked: Vonage tries again for a day, and a repeated
receipt repeats a known status.

Sources: https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks
and https://developer.vonage.com/en/getting-started/concepts/signing-messages
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl
from uuid import UUID

from providers import verdicts
from providers.contract import InboundText, Receipt, ReceiptKind, ReceiptRequest
from providers.errors import InvalidSignature, MalformedReceipt
from providers.sms.outcomes import json_object, kind_of_loss
from providers.sms.vonage_codes import FAILURES
from providers.verdicts import Table, Verdict

LOST: Final = frozenset({"expired", "failed", "rejected"})
"""`accepted` and `buffered` are intermediate; `unknown` is a status that Vonage did not
understand."""

_BEARER: Final = "Bearer "


class Method(StrEnum):
    """Method of the account's `sig`: a setting of Vonage's dashboard."""

    SHA256 = "sha256"
    SHA512 = "sha512"


@dataclass(frozen=True, slots=True, kw_only=True)
class VonageReceipts:
    """Verifies and translates receipts."""

    secret: str = field(repr=False)
    method: Method
    codes: Table

    def parse(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """Return the receipt or the text of a callback; none while a message is on its way.

        Each part of a long message has a separate callback, with the same delivery id.

        Raises:
            InvalidSignature: the callback was not signed with the signature secret.
            MalformedReceipt: the signed callback is no delivery receipt.
        """
        fields = self._verify(request)
        status, message_id = fields.get("status", ""), fields.get("messageId", "")
        if message_id and not status and fields.get("msisdn") and "text" in fields:
            return [_text(fields)]
        if not status or not message_id:
            raise MalformedReceipt("no delivery receipt")
        if status == "delivered":
            code, verdict, kind = "", None, ReceiptKind.DELIVERED
        elif status in LOST:
            code = f"dlr-{fields['err-code']}" if "err-code" in fields else status
            verdict = verdicts.look_up(code, FAILURES, self.codes)
            kind = kind_of_loss(verdict)
        else:
            return []
        receipt = Receipt(
            kind=kind,
            delivery_id=_delivery_id(fields.get("client-ref", "")),
            provider_message_id=message_id,
            code=code,
            contact_is_dead=verdict is not None and verdict.is_dead,
            has_opted_out=verdict is Verdict.OPTED_OUT,
        )
        return [receipt]

    def _verify(self, request: ReceiptRequest) -> Mapping[str, str]:
        """Return the fields of a verified callback.

        Raises:
            InvalidSignature: the signature does not match.
        """
        authorization = request.headers.get("authorization", "")
        if authorization.startswith(_BEARER):
            self._check_token(authorization.removeprefix(_BEARER), body=request.body)
            return _fields(request.body)
        fields = _fields(request.body)
        given = fields.get("sig", "").lower().encode()
        if not hmac.compare_digest(given, self._sig(fields).encode()):
            raise InvalidSignature("neither a token nor a sig that matches")
        return fields

    def _check_token(self, token: str, *, body: bytes) -> None:
        """Check a token's signature, and the token's hash of the body.

        Raises:
            InvalidSignature: signature or hash does not match.
        """
        import jwt  # noqa: PLC0415 - only a process that takes receipts needs jwt

        options: jwt.types.Options = {"require": ["payload_hash"], "verify_iat": False}
        try:
            claims = jwt.decode(token, self.secret, algorithms=["HS256"], options=options)
        except jwt.InvalidTokenError as error:
            raise InvalidSignature("the token is not signed by Vonage") from error
        hashed = str(claims["payload_hash"]).lower().encode()
        if not hmac.compare_digest(hashed, sha256(body).hexdigest().encode()):
            raise InvalidSignature("the token was made for another body")

    def _sig(self, fields: Mapping[str, str]) -> str:
        signed = "".join(
            f"&{name}={fields[name].translate(_UNDERSCORES)}"
            for name in sorted(fields)
            if name != "sig"
        )
        return hmac.new(self.secret.encode(), signed.encode(), self.method.value).hexdigest()


def _text(fields: Mapping[str, str]) -> InboundText:
    """Read a text that a person sent. Vonage writes numbers without the plus."""
    return InboundText(
        from_address=f"+{fields['msisdn'].removeprefix('+')}",
        to_address=fields.get("to", ""),
        text=fields["text"],
        provider_message_id=fields["messageId"],
    )


_UNDERSCORES: Final = str.maketrans("&=", "__")
"""Characters that could end a field are signed as an underscore."""


def _fields(body: bytes) -> Mapping[str, str]:
    if body.lstrip().startswith(b"{"):
        return {name: str(value) for name, value in json_object(body).items()}
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))


def _delivery_id(reference: str) -> UUID | None:
    """Read the delivery id; None: the message came from another system or an older release.

    Raises:
        MalformedReceipt: the reference is another text.
    """
    if not reference:
        return None
    try:
        return UUID(reference)
    except ValueError as error:
        raise MalformedReceipt("client-ref is an invalid UUID") from error
