"""A Message as a service's own HTTP request, and its answer as an Outcome: anymail's backends.

What a service cannot carry (metadata, at one of them) is left out: its receipts then resolve by the
service's own message id.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from anymail.exceptions import AnymailError
from anymail.message import AnymailMessage
from requests import Request as PlainRequest
from requests import Response as PlainResponse

from notifyproj.esp import answers
from providers import mailboxes, verdicts
from providers.contract import Message, Misconfigured, Outcome, Unanswered
from providers.email import mime
from providers.rounds import HALF_A_CHARACTER, Unsendable, is_unicode
from providers.transport import Reply, Request, Response

DELIVERY_ID: Final = "delivery_id"
"""Metadata that the service echoes in its callbacks."""

SIZE_LIMIT_BYTES: Final = 5 * 1024 * 1024
"""Of a request. Postmark takes 5 MB of text or HTML, the least of all; no template comes near."""

_UNREADABLE: Final = (AnymailError, LookupError, TypeError, ValueError, AttributeError)
"""What a backend raises when an answer is not what its service documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedRequest:
    """A message on its way. `payload` and `mail` are what anymail reads the answer with."""

    request: Request = field(repr=False)
    payload: Any = field(repr=False)
    mail: AnymailMessage = field(repr=False)


class Backend:
    """One service's backend. It holds no connection; any thread may use it."""

    def __init__(
        self, service: str, *, options: Mapping[str, object], sender: str, codes: verdicts.Table
    ) -> None:
        """`codes` are the operator's own rows of the table of answers."""
        backend = import_module(f"anymail.backends.{service}").EmailBackend
        self._backend = backend(ignore_unsupported_features=True, **options)
        self._service, self._sender, self._codes = service, sender, codes

    @property
    def api_url(self) -> str:
        """Where the service's API is."""
        return str(self._backend.api_url)

    def encode(self, message: Message) -> EncodedRequest:
        """Build the request.

        Raises:
            Unsendable: this service could never take it.
        """
        if not is_unicode(message.title + message.body + message.html):
            raise Unsendable("malformed_text", HALF_A_CHARACTER)  # JSON would escape the half
        try:
            mail = self._mail(message)
            payload = self._backend.build_message_payload(mail, self._backend.send_defaults)
            request = _request(payload.get_request_params(self._backend.api_url))
        except mailboxes.MalformedAddress as error:
            raise Unsendable("malformed_address", str(error)) from None
        except AnymailError as error:  # its own text repeats the message
            raise Unsendable("cannot_encode", type(error).__name__) from None
        if len(request.body) > SIZE_LIMIT_BYTES:
            detail = f"{len(request.body)} bytes, at most {SIZE_LIMIT_BYTES}"
            raise Unsendable("payload_too_large", detail)
        return EncodedRequest(request=request, payload=payload, mail=mail)

    def outcome(self, reply: Reply, encoded: EncodedRequest) -> Outcome:
        """Judge the answer to a request."""

        def read(response: Response) -> Outcome:
            return self._of_success(_plain(response), encoded)

        return answers.outcome_of(reply, service=self._service, codes=self._codes, read=read)

    def _of_success(self, response: PlainResponse, encoded: EncodedRequest) -> Outcome:
        try:
            self._backend.raise_for_status(response, encoded.payload, encoded.mail)
        except AnymailError:  # Mailgun greets every path with a 200
            return Misconfigured(code="not_the_api", detail="look at the option api_url")
        try:
            found = self._backend.parse_recipient_status(response, encoded.payload, encoded.mail)
            (only,) = found.values()
        except _UNREADABLE:
            return Unanswered(code="unreadable")
        return answers.outcome_of_status(
            only.status or "unknown", message_id=str(only.message_id or ""), codes=self._codes
        )

    def _mail(self, message: Message) -> AnymailMessage:
        only_html = bool(message.html and not message.body)
        mail = AnymailMessage(
            subject=" ".join(message.title.split()),
            body=message.html if only_html else message.body,
            from_email=self._sender,
            to=[mailboxes.check(message.address)],
            headers=mime.unsubscribe_headers(message),
        )
        if only_html:
            mail.content_subtype = "html"
        elif message.html:
            mail.attach_alternative(message.html, "text/html")
        mail.metadata = {DELIVERY_ID: str(message.delivery_id)}
        return mail


def _request(params: Mapping[str, Any]) -> Request:
    """Let `requests` write headers and body (form, multipart or JSON) as it would send them.

    Raises:
        TypeError: the body is a stream, which no backend makes without attachments.
    """
    ready = PlainRequest(**params).prepare()
    headers = [
        f"{name}: {_text(value)}"
        for name, value in ready.headers.items()
        if name != "Content-Length"  # the transport counts for itself
    ]
    body = ready.body or b""
    if not isinstance(body, str | bytes):
        raise TypeError("the body is a stream")
    return Request(
        url=str(ready.url), headers=headers, body=body.encode() if isinstance(body, str) else body
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _plain(response: Response) -> PlainResponse:
    """Make what anymail's backends read. Some look at the type, which is JSON at all of them."""
    plain = PlainResponse()
    plain.status_code = response.status
    plain.headers["Content-Type"] = "application/json"
    plain.encoding = "utf-8"
    plain.raw = io.BytesIO(response.body)
    return plain
