"""The vendor `anymail`: settings and adapter. The package's docstring describes the design.

    NOTIFY_ANYMAIL_ESP=postmark
    NOTIFY_ANYMAIL_OPTIONS={"server_token": "..."}
    NOTIFY_ANYMAIL_FROM=Shop <no-reply@shop.example>
    NOTIFY_ANYMAIL_WEBHOOK_SECRET=user:password

The service's callbacks go to `https://user:password@<host>/v1/receipts/anymail`. A service that
signs callbacks needs the signing key among the options, and the secret may then be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from email.headerregistry import Address
from functools import cached_property
from typing import TYPE_CHECKING, Final
from uuid import UUID

import orjson

from providers import configuration, http_outcomes, rounds, verdicts
from providers.configuration import InvalidValue, parse_with
from providers.contract import (
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Receipt,
    ReceiptRequest,
    Removal,
    Repeat,
    Result,
)
from providers.email import mime
from providers.email.anymail.services import SERVICES, AnymailService
from providers.errors import NoReceipts
from providers.transport import Reply, Request, Transport
from providers.vendor import Vendor

if TYPE_CHECKING:
    from providers.email.anymail.callbacks import AnymailReceipts
    from providers.email.anymail.encoding import Backend, EncodedRequest

NAME: Final = "anymail"

PER_SECOND: Final = 10
BURST_SECONDS: Final = 10
"""Default of this adapter: each service and plan has other limits."""

BATCH_LIMIT: Final = 100
"""Each message is a separate request, and anymail builds a request in up to half a millisecond: a
batch must be built well within the shortest deadline."""


ATTACHMENT_BYTES: Final = 7_000_000
"""Base64 makes four bytes of three, and `encoding.REQUEST_LIMIT_BYTES` leaves room for the text."""


def service_name(text: str) -> str:
    """Read the name of a service.

    Raises:
        ValueError: no service has the name.
    """
    if text.lower() not in SERVICES:
        raise ValueError(f"write one of {', '.join(SERVICES)}")
    return text.lower()


def json_object(text: str) -> Mapping[str, object]:
    """Read a JSON object.

    Raises:
        ValueError: the text is no JSON object; the message repeats no part of the text.
    """
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise ValueError('write a JSON object, such as {"api_key": "..."}')  # noqa: TRY004 - a reader's protocol
    return document


def passwords(text: str) -> tuple[str, ...]:
    """Read `user:password` pairs, separated by commas; each pair authenticates a callback.

    Raises:
        ValueError: an item is no pair.
    """
    pairs = tuple(part.strip() for part in text.split(","))
    if not all(all(pair.partition(":")) for pair in pairs):
        raise ValueError("write user:password, or several separated by commas")
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_ANYMAIL_*`."""

    esp: str = field(metadata=parse_with(service_name))
    """Name of the service: `postmark`."""
    from_: Address = field(metadata=parse_with(mime.mailbox))
    """Sender: `Example <notify@example.com>`."""
    options: Mapping[str, object] = field(repr=False, metadata=parse_with(json_object))
    """anymail's settings of the service, with or without the service's name as prefix."""
    webhook_secret: tuple[str, ...] = field(default=(), repr=False, metadata=parse_with(passwords))
    """User and password of the service's callbacks, `user:password`; several during a rotation."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    codes: verdicts.Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))

    def __post_init__(self) -> None:
        """Validate the options for the service.

        Raises:
            InvalidValue: an option is missing, unknown or of the wrong type.
        """
        service, given = SERVICES[self.esp], self.plain_options
        known = service.needs | service.knows
        for name in sorted(given.keys() - known):
            listed = ", ".join(sorted(known))
            raise InvalidValue(
                "options", f"unknown option {name}; the options of {self.esp} are {listed}"
            )
        for name in sorted(service.needs):
            if not given.get(name):
                raise InvalidValue("options", f"{self.esp} needs the option {name}")
        for name, value in given.items():
            if not isinstance(value, str):
                raise InvalidValue("options", f"the option {name} must be a text")
        try:
            configuration.http_url(str(given.get("api_url", "https://default.invalid")))
        except ValueError as error:
            raise InvalidValue("options", f"api_url: {error}") from None

    @property
    def plain_options(self) -> Mapping[str, object]:
        """The options without the service's name as prefix; names in lower case."""
        prefix = f"{self.esp}_"
        return {name.lower().removeprefix(prefix): value for name, value in self.options.items()}


class Anymail:
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(self, config: Config, *, transport: Transport) -> None:
        """Store the settings; the first use imports anymail, and no call happens before."""
        self._config, self._transport = config, transport
        self._options = config.plain_options
        self._service: AnymailService = SERVICES[config.esp]
        self.capabilities = Capabilities(
            marks_begin=True,
            attachment_bytes=ATTACHMENT_BYTES,
            sender_address=config.from_.addr_spec,
            inline_images=self._service.inline_images,
            channels=frozenset({Channel.EMAIL}),
            repeat=Repeat.VISIBLE,
            gives_receipts=self._can_verify(),
            batch_limit=BATCH_LIMIT,
            pace=Pace(burst=config.per_second * BURST_SECONDS, per_second=config.per_second),
        )

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        encoded: dict[UUID, EncodedRequest] = {}

        def prepare(message: Message) -> Request:
            encoded[message.delivery_id] = self._backend.encode(message)
            return encoded[message.delivery_id].request

        def judge(reply: Reply, message: Message) -> Outcome:
            return self._backend.outcome(reply, encoded[message.delivery_id])

        return rounds.send_one_request_each(
            batch, prepare=prepare, judge=judge, transport=self._transport, deadline=deadline
        )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | Removal]:
        """See `providers.contract.Provider.parse_receipt`.

        Raises:
            NoReceipts: the service has no callbacks, or no setting to verify callbacks is given.
            InvalidSignature: the callback is not from the service.
            MalformedReceipt: the callback is from the service and cannot be read.
        """
        if not self.capabilities.gives_receipts:
            raise NoReceipts(self.name)
        return self._reader.parse(request)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`; the services share no more telling call."""
        page = Request(url=self._backend.api_url, headers=[], method="GET")
        for _index, reply in self._transport.send([page], deadline=deadline):
            yield http_outcomes.reachability(reply)

    @cached_property
    def _backend(self) -> Backend:
        from providers.email.anymail.encoding import Backend  # noqa: PLC0415 - needs Django's settings

        return Backend(
            self._config.esp,
            options=self._options,
            sender=self._config.from_,
            codes=self._config.codes,
        )

    @cached_property
    def _reader(self) -> AnymailReceipts:
        from providers.email.anymail.callbacks import AnymailReceipts  # noqa: PLC0415 - needs Django's settings

        return AnymailReceipts(
            self._config.esp,
            self._service,
            options=self._options,
            secrets=self._config.webhook_secret,
        )

    def _can_verify(self) -> bool:
        signed = bool(self._service.signed_with & self._options.keys())
        basic = bool(self._config.webhook_secret) and self._service.takes_basic_auth
        return bool(self._service.view) and (signed or basic)


VENDOR: Final = Vendor(NAME, Config, Anymail)
