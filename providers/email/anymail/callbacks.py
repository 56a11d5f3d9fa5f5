"""Translates a service's callback into Receipts: anymail's webhook views verify and read callbacks.

| anymail's event | receipt | the address is dead |
| --- | --- | --- |
| delivered | delivered | |
| opened, clicked | read | |
| complained, unsubscribed | read | yes |
| bounced | bounced | if the reason is `bounced` or `invalid`, and the bounce is not soft |
| rejected | failed | for the reasons `bounced`, `invalid`, `spam` and `unsubscribed` |
| failed | failed | |
| queued, sent, deferred, subscribed, autoresponded, unknown | none | |

A complaint is a `read`, because a recipient who complains has seen the mail. `spam` and
`unsubscribed` stand for earlier complaints. Repeated callbacks do no harm: a delivery moves once.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from anymail.exceptions import AnymailConfigurationError
from anymail.signals import EventType, RejectReason
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.wsgi import WSGIRequest
from django.http.multipartparser import MultiPartParserError

from providers.contract import Receipt, ReceiptKind, ReceiptRequest
from providers.email.anymail.answers import hide_addresses
from providers.email.anymail.encoding import DELIVERY_ID
from providers.email.anymail.services import AnymailService, value_at
from providers.errors import InvalidSignature, MalformedReceipt

_DETAIL_LIMIT: Final = 200

_KINDS: Final[Mapping[str, ReceiptKind]] = {
    EventType.DELIVERED: ReceiptKind.DELIVERED,
    EventType.OPENED: ReceiptKind.READ,
    EventType.CLICKED: ReceiptKind.READ,
    EventType.COMPLAINED: ReceiptKind.READ,
    EventType.UNSUBSCRIBED: ReceiptKind.READ,
    EventType.BOUNCED: ReceiptKind.BOUNCED,
    EventType.REJECTED: ReceiptKind.FAILED,
    EventType.FAILED: ReceiptKind.FAILED,
}

_UNWANTED: Final = frozenset({EventType.COMPLAINED, EventType.UNSUBSCRIBED})
_GONE: Final = frozenset({RejectReason.BOUNCED, RejectReason.INVALID})
_SUPPRESSED: Final = _GONE | {RejectReason.SPAM, RejectReason.UNSUBSCRIBED}
"""Reasons from the service's suppression list. A *receiver's* `spam` concerns the text instead."""

_UNREADABLE: Final = (
    SuspiciousOperation,  # the base of anymail's refusal
    AnymailConfigurationError,  # the service sends another sort of callback to this URL
    MultiPartParserError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RecursionError,
)
"""Errors of the views for a body of an undocumented shape; Django usually handles the errors."""


class AnymailReceipts:
    """Verifies and reads the callbacks of a service; safe for use by several threads."""

    def __init__(
        self,
        name: str,
        service: AnymailService,
        *,
        options: Mapping[str, object],
        secrets: Sequence[str],
    ) -> None:
        """`secrets`: `user:password` pairs that a callback may use; empty: no pair is required."""
        view = getattr(import_module(f"anymail.webhooks.{name}"), service.view)
        self._view = view(webhook_secret=list(secrets), **options)
        self._service = service

    def parse(self, call: ReceiptRequest) -> list[Receipt]:
        """Verify a callback and return its receipts.

        Raises:
            InvalidSignature: the callback is not from the service.
            MalformedReceipt: the callback is from the service and cannot be read.
        """
        request = _django_request(call)
        try:
            self._view.run_validators(request)
        except _UNREADABLE:
            raise InvalidSignature("the callback is not the service's") from None
        try:
            events = self._view.parse_events(request)
            receipts = [self._receipt(event) for event in events]
        except _UNREADABLE as error:
            raise MalformedReceipt("not a callback about sent messages") from error
        return [receipt for receipt in receipts if receipt is not None]

    def _receipt(self, event: Any) -> Receipt | None:  # noqa: ANN401 - anymail has no types
        kind = _KINDS.get(event.event_type)
        delivery_id = _uuid((event.metadata or {}).get(DELIVERY_ID))
        message_id = str(event.message_id or "")
        if kind is None or not (delivery_id or message_id):
            return None
        said = event.mta_response or event.description or ""
        return Receipt(
            kind=kind,
            delivery_id=delivery_id,
            provider_message_id=message_id,
            occurred_at=event.timestamp,
            code=event.reject_reason or event.event_type,
            detail=hide_addresses(" ".join(str(said).split()))[:_DETAIL_LIMIT],
            contact_is_dead=self._is_dead(event),
        )

    def _is_dead(self, event: Any) -> bool:  # noqa: ANN401 - anymail has no types
        path, soft = self._service.soft
        if event.event_type in _UNWANTED:
            return True
        if event.event_type == EventType.REJECTED:
            return event.reject_reason in _SUPPRESSED
        return (
            event.event_type == EventType.BOUNCED
            and event.reject_reason in _GONE
            and value_at(event.esp_event, path) not in soft
        )


def _uuid(text: object) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None


def _django_request(call: ReceiptRequest) -> WSGIRequest:
    url = urlsplit(call.url)
    headers = {f"HTTP_{k.upper().replace('-', '_')}": value for k, value in call.headers.items()}
    return WSGIRequest({
        **headers,
        "REQUEST_METHOD": "POST",
        "HTTP_HOST": url.netloc,
        "PATH_INFO": url.path,
        "QUERY_STRING": url.query,
        "CONTENT_TYPE": call.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(call.body)),
        "wsgi.url_scheme": url.scheme,
        "wsgi.input": io.BytesIO(call.body),
    })
