"""Callbacks of a described gateway.

A gateway without a signature gets an address that contains a proof: the query has a `token`. At the
address of one message the token is the HMAC-SHA256 of the delivery id with
`NOTIFY_<NAME>_CALLBACK_SECRET`, so that a logged address forges no other receipt; at the
address of the account the token is the secret itself. A callback can be replayed: the repeated
receipt repeats a known status.
"""

from __future__ import annotations

import hmac
import logging
from base64 import b64encode
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from providers import verdicts
from providers.contract import Receipt, ReceiptKind, ReceiptRequest
from providers.errors import InvalidSignature, MalformedReceipt
from providers.sms import outcomes
from providers.sms.gateways import paths
from providers.sms.gateways.description import Receipts, Signature
from providers.verdicts import Table, Verdict

_log = logging.getLogger(__name__)

_DELIVERY_ID: Final = "delivery_id"
_TOKEN: Final = "token"  # noqa: S105 - the name of a parameter
_DOLLARS: Final = "USD"
_NEWS: Final = {"delivered": ReceiptKind.DELIVERED, "read": ReceiptKind.READ}


class GatewayReceipts:
    """Makes the addresses of callbacks, verifies callbacks, and translates their entries."""

    def __init__(
        self, described: Receipts, *, address: str, secret: str, signing_key: str, codes: Table
    ) -> None:
        """`address` is the public URL of the provider's callbacks; `signing_key` is of a signature.

        `secret` is for an address with a proof.
        """
        self._described = described
        self._address = address
        self._secret = secret.encode()
        self._signing_key = signing_key.encode()
        self._codes = codes
        self._table: Table = {f"dlr-{code}": each for code, each in described.codes.items()}

    def address_for(self, delivery_id: UUID) -> str:
        """Return the address for the callbacks of a message."""
        if self._described.signature is not None:
            return self._address
        token = {_TOKEN: self.token_for(delivery_id)}
        named = {} if self._described.url == "account" else {_DELIVERY_ID: delivery_id}
        return f"{self._address}?{urlencode({**named, **token})}"

    def token_for(self, delivery_id: UUID) -> str:
        """Return the proof in the address for a message; empty: the vendor signs."""
        if self._described.signature is not None:
            return ""
        if self._described.url == "account":
            return self._secret.decode()
        return self._token_of(str(delivery_id))

    def parse(self, request: ReceiptRequest) -> Sequence[Receipt]:
        """Return the receipts of a callback; none while a message is on its way.

        An entry that cannot be read costs no other entry: a vendor would repeat the whole callback.

        Raises:
            InvalidSignature: the callback has no valid proof.
            MalformedReceipt: no entry can be read.
        """
        delivery_id = self._verify(request)
        by_get = self._described.method == "GET"
        tree = _query(request) if by_get else paths.read(request.body)
        found = paths.value_at(tree, self._described.each) if self._described.each else tree
        entries = found if isinstance(found, list) else [found]
        if delivery_id is not None and len(entries) > 1:
            raise MalformedReceipt("several entries came to the address of one message")
        receipts: list[Receipt | None] = []
        unread: list[MalformedReceipt] = []
        for entry in entries:
            try:
                receipts.append(self._receipt(entry, delivery_id))
            except MalformedReceipt as error:
                unread.append(error)
        if unread and not receipts:
            raise unread[0]
        if unread:
            address, counts = self._address, (len(unread), len(entries))
            _log.warning("SMS gateway: %s of %s entries of a callback unread: %s", *counts, address)
        return [each for each in receipts if each is not None]

    def _verify(self, request: ReceiptRequest) -> UUID | None:
        """Check the proof; return the delivery that a message's own address names."""
        signature = self._described.signature
        if signature is not None:
            given = request.headers.get(signature.header.lower(), "")
            _compare(given, signature.prefix + self._signed(signature, request.body))
            return None
        query = _query(request)
        token = query.get(_TOKEN, "")
        if self._described.url == "account":
            _compare(token, self._secret.decode())
            return None
        delivery_id = query.get(_DELIVERY_ID, "")
        _compare(token, self._token_of(delivery_id))
        return _uuid(delivery_id)

    def _token_of(self, delivery_id: str) -> str:
        return hmac.digest(self._secret, delivery_id.encode(), "sha256").hex()

    def _signed(self, signature: Signature, body: bytes) -> str:
        digest = hmac.digest(self._signing_key, body, signature.algorithm)
        return digest.hex() if signature.encoding == "hex" else b64encode(digest).decode()

    def _receipt(self, entry: object, delivery_id: UUID | None) -> Receipt | None:
        described = self._described
        found = list(filter(None, (paths.text_at(entry, path) for path in described.status)))
        if not found:
            raise MalformedReceipt("an entry has no status of a message")
        status = next((each for each in found if each in described.statuses), found[0])
        meaning = described.statuses.get(status)
        if meaning is None or meaning == "on_its_way":
            return None
        message_id = paths.text_at(entry, described.id)
        named = delivery_id or _uuid(paths.text_at(entry, described.delivery_id))
        if named is None and not message_id:
            raise MalformedReceipt("an entry names no message")
        code, verdict = "", None
        if isinstance(meaning, Verdict):
            code, verdict = self._failure(entry, status, meaning)
        return Receipt(
            kind=outcomes.kind_of_loss(verdict) if verdict else _NEWS[meaning],
            delivery_id=named,
            provider_message_id=message_id,
            code=code,
            contact_is_dead=verdict is not None and verdict.is_dead,
            has_opted_out=verdict is Verdict.OPTED_OUT,
            segments=outcomes.segments_of(paths.text_at(entry, described.segments)),
            price_micros=self._price(entry),
        )

    def _failure(self, entry: object, status: str, usual: Verdict) -> tuple[str, Verdict]:
        """Return code and verdict of a failed message."""
        code = f"dlr-{paths.text_at(entry, self._described.code) or status}"
        return code, verdicts.look_up(code, self._table, self._codes) or usual

    def _price(self, entry: object) -> int | None:
        currency = paths.text_at(entry, self._described.currency)
        if currency.upper() != _DOLLARS:
            return None
        return outcomes.micros_of(paths.text_at(entry, self._described.price))


def _query(request: ReceiptRequest) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(request.url).query))


def _compare(given: str, expected: str) -> None:
    """Compare in constant time.

    Raises:
        InvalidSignature: the texts differ.
    """
    if not hmac.compare_digest(given.encode(errors="replace"), expected.encode()):
        raise InvalidSignature("the proof of the callback is wrong")


def _uuid(text: str) -> UUID | None:
    """Read a delivery id; None for a reference that is not of this service."""
    try:
        return UUID(text)
    except ValueError:
        return None
