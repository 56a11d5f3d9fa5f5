"""Builds a service's HTTP request from a Message and judges the response, by anymail's backends.

The request omits features that the service does not support, such as metadata at one service. The
receipts of that service resolve by the service's message id.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import encoders
from email.headerregistry import Address
from email.mime.base import MIMEBase
from importlib import import_module
from typing import Any, Final

from anymail.exceptions import AnymailError
from anymail.message import AnymailMessage
from requests import Request as PlainRequest
from requests import Response as PlainResponse

from providers import mailboxes, verdicts
from providers.contract import Message, Misconfigured, Outcome, Unanswered
from providers.email import mime
from providers.email.anymail import answers
from providers.message_parts import Attachment
from providers.rounds import HALF_A_CHARACTER, Unsendable, is_unicode
from providers.transport import Reply, Request, Response

DELIVERY_ID: Final = "delivery_id"
"""Metadata that the service echoes in its callbacks."""

SIZE_LIMIT_BYTES: Final = 5 * 1024 * 1024
"""Limit of a request. Postmark's limit of 5 MB for text or HTML is the lowest of all services."""

REQUEST_LIMIT_BYTES: Final = 10 * 1024 * 1024
"""Limit of a request with attachments. Postmark's limit of 10 MB is the lowest of all services
(https://postmarkapp.com/developer/user-guide/send-email-with-api#attachments)."""

_UNREADABLE: Final = (AnymailError, LookupError, TypeError, ValueError, AttributeError)
"""Errors of a backend for a response that differs from the service's documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedRequest:
    """A message as a request; anymail needs `payload` and `mail` to read the response."""

    request: Request = field(repr=False)
    payload: Any = field(repr=False)
    mail: AnymailMessage = field(repr=False)


class Backend:
    """The backend of a service, without a connection; safe for use by several threads."""

    def __init__(
        self, service: str, *, options: Mapping[str, object], sender: Address, codes: verdicts.Table
    ) -> None:
        """`codes`: the operator's rows for the table in `answers`."""
        backend = import_module(f"anymail.backends.{service}").EmailBackend
        self._backend = backend(ignore_unsupported_features=True, **options)
        self._service, self._sender, self._codes = service, sender, codes

    @property
    def api_url(self) -> str:
        """URL of the service's API."""
        return str(self._backend.api_url)

    def encode(self, message: Message) -> EncodedRequest:
        """Build the request.

        Raises:
            Unsendable: the service would refuse the message at every attempt.
        """
        if not is_unicode(message.title + message.body + message.html):
            raise Unsendable("malformed_text", HALF_A_CHARACTER)  # JSON would escape the half
        try:
            mail = self._mail(message)
            payload = self._backend.build_message_payload(mail, self._backend.send_defaults)
            request = _request(payload.get_request_params(self._backend.api_url))
        except mailboxes.MalformedAddress as error:
            raise Unsendable("malformed_address", str(error)) from None
        except AnymailError as error:  # the text of the error repeats the message
            raise Unsendable("cannot_encode", type(error).__name__) from None
        most = REQUEST_LIMIT_BYTES if message.attachments else SIZE_LIMIT_BYTES
        if len(request.body) > most:
            detail = f"{len(request.body)} bytes, at most {most}"
            raise Unsendable("payload_too_large", detail)
        return EncodedRequest(request=request, payload=payload, mail=mail)

    def outcome(self, reply: Reply, encoded: EncodedRequest) -> Outcome:
        """Return the outcome of the reply to a request."""

        def read(response: Response) -> Outcome:
            return self._of_success(_plain(response), encoded)

        return answers.outcome_of(reply, service=self._service, codes=self._codes, read=read)

    def _of_success(self, response: PlainResponse, encoded: EncodedRequest) -> Outcome:
        try:
            self._backend.raise_for_status(response, encoded.payload, encoded.mail)
        except AnymailError:  # Mailgun answers every path with a 200
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
            from_email=str(mime.sender_of(message, self._sender)),
            to=[mailboxes.check(message.address)],
            reply_to=[message.mail.reply_to] if message.mail.reply_to else None,
            headers=mime.list_headers(message),
        )
        if only_html:
            mail.content_subtype = "html"
        elif message.html:
            mail.attach_alternative(message.html, "text/html")
        for each in message.attachments:
            is_shown = bool(each.inline_id and message.html)
            if is_shown or each.media_type.startswith("text/"):
                mail.attach(_part(each, is_shown=is_shown))
            else:  # without a copy of the content in base64
                mail.attach(each.name, each.content, each.media_type)
        mail.metadata = {DELIVERY_ID: str(message.delivery_id)}
        return mail


def _part(attachment: Attachment, *, is_shown: bool) -> MIMEBase:
    """Build the part that anymail reads name, type, content and Content-ID from.

    Services have no place for an invitation beside the texts, so the type of the attached file has
    the METHOD of the calendar, which most services pass on (`services.AnymailService`).
    """
    part = MIMEBase(*attachment.media_type.split("/", 1))
    if attachment.media_type.startswith("text/"):
        part.set_param("charset", "utf-8")
    if method := mime.calendar_method(attachment):
        part.set_param("method", method)
    part.set_payload(attachment.content)
    encoders.encode_base64(part)
    kind = "inline" if is_shown else "attachment"
    part.add_header("Content-Disposition", kind, filename=attachment.name)
    if is_shown:
        part.add_header("Content-ID", f"<{attachment.inline_id}>")
    return part


def _request(params: Mapping[str, Any]) -> Request:
    """Build headers and body (form, multipart or JSON) with `requests`.

    Raises:
        TypeError: the body is a stream; backends build a stream for attachments only.
    """
    ready = PlainRequest(**params).prepare()
    headers = [
        f"{name}: {_text(value)}"
        for name, value in ready.headers.items()
        if name != "Content-Length"  # the transport sets the length
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
    """Build the response type of anymail's backends; every service answers in JSON."""
    plain = PlainResponse()
    plain.status_code = response.status
    plain.headers["Content-Type"] = "application/json"
    plain.encoding = "utf-8"
    plain.raw = io.BytesIO(response.body)
    return plain
