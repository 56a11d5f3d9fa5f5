"""Translates a service's callback into Receipts: anymail's webhook views verify and read callbacks.

| event | receipt |
| --- | --- |
| delivered | delivered |
| opened, clicked | read; none for a machine's (`_is_a_reading`) |
| complained | read; the address is dead by a complaint |
| unsubscribed | read; the address has opted out |
| bounced | bounced, with the standing of the address (`standings`) |
| rejected, failed | failed, with the standing of the address |
| subscribed | a removal, where the service means its suppression list (`standings`) |
| queued, sent, deferred, autoresponded, unknown | none |

A complaint is a `read`, because a complaint proves a view of the mail. Repeated callbacks do
no harm: a delivery moves once.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from anymail.exceptions import AnymailConfigurationError
from anymail.signals import EventType
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.wsgi import WSGIRequest
from django.http.multipartparser import MultiPartParserError

from providers import graphemes, visitors
from providers.contract import Channel, Receipt, ReceiptKind, ReceiptRequest, Removal
from providers.email.anymail import standings
from providers.email.anymail.answers import hide_addresses
from providers.email.anymail.encoding import DELIVERY_ID
from providers.email.anymail.services import AnymailService, Path, value_at
from providers.email.anymail.standings import Standing
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

_VISITS: Final = frozenset({EventType.OPENED, EventType.CLICKED})

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

_NO_FLAG: Final = frozenset({"", "false"})
_FLAGS: Final[Mapping[str, Path]] = {
    "mailgun": ("event-data", "client-info", "bot"),  # "apple", "gmail", "generic"
    "sendgrid": ("sg_machine_open",),
    "sparkpost": ("msys", "track_event", "is_prefetched"),
}
"""Path of the flag: any value but false is a machine."""
_PROXY_OPENS: Final = frozenset({"proxy_open", "unique_proxy_open"})
"""Brevo has events of their own for them."""
_AGENTS: Final[Mapping[str, Path]] = {"brevo": ("user_agent",)}
"""Path of the user agent where anymail does not read it."""


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
        self._name = name

    def parse(self, call: ReceiptRequest) -> list[Receipt | Removal]:
        """Verify a callback and return its receipts and removals.

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
            found = [self._removal(event) or self._receipt(event) for event in events]
        except _UNREADABLE as error:
            raise MalformedReceipt("not a callback about sent messages") from error
        return [each for each in found if each is not None]

    def _removal(self, event: Any) -> Removal | None:  # noqa: ANN401 - anymail has no types
        ended = standings.standings_after_removal(
            self._name,
            standings.event_type(self._name, event.event_type, event.esp_event),
            event.esp_event,
        )
        if not ended or not event.recipient:
            return None
        return Removal(
            channel=Channel.EMAIL,
            address=str(event.recipient),
            occurred_at=event.timestamp,
            ends_bounce=Standing.DEAD in ended,
            ends_opt_out=Standing.OPTED_OUT in ended,
        )

    def _receipt(self, event: Any) -> Receipt | None:  # noqa: ANN401 - anymail has no types
        event_type = standings.event_type(self._name, event.event_type, event.esp_event)
        kind = _KINDS.get(event_type)
        delivery_id = _uuid((event.metadata or {}).get(DELIVERY_ID))
        message_id = str(event.message_id or "")
        if kind is None or not (delivery_id or message_id):
            return None
        agent = str(event.user_agent or "")
        if event_type in _VISITS and not _is_a_reading(self._name, event.esp_event, agent=agent):
            return None
        standing, said = standings.standing(self._name, event_type, event.esp_event)
        words = event.mta_response or event.description or ""
        return Receipt(
            kind=kind,
            delivery_id=delivery_id,
            provider_message_id=message_id,
            occurred_at=event.timestamp,
            code=said or event.reject_reason or event_type,
            detail=graphemes.cut(hide_addresses(" ".join(str(words).split())), _DETAIL_LIMIT),
            contact_is_dead=standing in {Standing.DEAD, Standing.COMPLAINED},
            has_complained=standing is Standing.COMPLAINED,
            has_opted_out=standing is Standing.OPTED_OUT,
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


def _is_a_reading(service: str, callback: object, *, agent: str) -> bool:
    """Return True if an opening or a click counts as a reading; `agent` is as anymail reads it.

    Sources of the flags: SendGrid's event webhook (`sg_machine_open`), Mailgun's open and click bot
    detection, Brevo's transactional webhooks (proxy open), SparkPost's event reference
    (`is_prefetched`).
    """
    flag = value_at(callback, _FLAGS.get(service, ())).lower()
    is_machine = flag not in _NO_FLAG or (
        service == "brevo" and value_at(callback, ("event",)) in _PROXY_OPENS
    )
    agent = agent or value_at(callback, _AGENTS.get(service, ()))
    return visitors.is_a_reading(is_machine=is_machine, agent=agent)
