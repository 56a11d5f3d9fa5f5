"""Chat through Apprise: an address is an Apprise URL, such as `tgram://token/chat`.

Apprise writes the request (`draft`), the transport sends the request, guarded, because
an address makes the servers post to a URL of the user's choice. One address is one target.

| answer | outcome |
| --- | --- |
| a word or a status of `services`, or of NOTIFY_APPRISE_CODES | as there |
| other 2xx | Accepted |
| Telegram's new id of a group | one more call, to the new id; if accepted, with `new_address` |
| others | `providers.http_outcomes` |

Codes are written with their service: `NOTIFY_APPRISE_CODES="slack:not_in_channel=dead"`.

No known chat service recognises a repeat. The idempotency key is sent as a header, for self-hosted
services behind a proxy that recognises repeats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from ipaddress import IPv6Network
from operator import itemgetter
from time import monotonic
from typing import Final
from urllib.parse import unquote, urlsplit
from uuid import UUID

from providers import configuration, http_outcomes, rounds, verdicts
from providers.chat.draft import address_after_move, draft, scheme
from providers.chat.services import SERVICES
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Misconfigured,
    Outcome,
    Pace,
    Rejected,
    Repeat,
    Result,
)
from providers.endpoints import chat_account
from providers.rounds import Unsendable
from providers.transport import PER_STRANGER, Failure, Reply, Request, Transport
from providers.transport.guard import AddressPolicy, nat64_prefixes
from providers.vendor import OneWay, Vendor
from providers.verdicts import Table

NAME: Final = "apprise"

BATCH_LIMIT: Final = 100
"""Apprise takes half a millisecond to write a request, so a batch of the size waits 50 ms at
most."""

PER_SECOND: Final = 10
BURST_SECONDS: Final = 10
"""Local limit for each bot, webhook or server: the services count by chat, most without a
number."""


_PARTS_OF_AN_ADDRESS: Final = re.compile(r"[^/@:?&=#]{6,}")


def schemes(text: str) -> frozenset[str]:
    """Read schemes, separated by commas.

    Raises:
        ValueError: an entry is not in `services`.
    """
    names = frozenset(part.strip() for part in text.split(","))
    if not names <= SERVICES.keys():
        raise ValueError(f"write schemes of {', '.join(SERVICES)}, separated by commas")
    return names


def endpoints(text: str) -> Mapping[str, str]:
    """Read `origin=URL` pairs, separated by commas.

    Raises:
        ValueError: a part is no pair of http or https URLs.
    """
    pairs = [part.strip().partition("=")[::2] for part in text.split(",")]
    return {configuration.http_url(a): configuration.http_url(b) for a, b in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_APPRISE_*`."""

    schemes: frozenset[str] = field(metadata=parse_with(schemes))
    """Allowed schemes of addresses: `slack,tgram`. Each scheme lets requests go to its servers."""
    from_: str = field(default="Notifications", metadata=parse_with(str))
    """The sender's name, on services that show a name."""
    allow_private: bool = field(default=False, metadata=parse_with(configuration.yes_no))
    """`yes` allows private addresses: only if all users who may enter an address may also reach the
    private network."""
    nat64: tuple[IPv6Network, ...] = field(
        default=(), metadata=parse_with(nat64_prefixes, setting=configuration.NAT64_PREFIXES)
    )
    endpoints: Mapping[str, str] = field(default_factory=dict, metadata=parse_with(endpoints))
    """Local servers to call instead: `https://api.telegram.org=http://bot-api:8081`."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    """Rate limit for each bot, webhook or server."""
    codes: Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


class AppriseChat(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME

    def __init__(self, config: Config, *, transport: Transport) -> None:
        """Contact nothing, and load no Apprise, before the first `send`."""
        self.capabilities: Final = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.CHAT}),
            repeat=Repeat.VISIBLE,
            gives_receipts=False,
            concurrency=PER_STRANGER,
            batch_limit=BATCH_LIMIT,
            pace=Pace(burst=config.per_second * BURST_SECONDS, per_second=config.per_second),
            endpoint_of=chat_account,
            takes={Channel.CHAT: lambda address: scheme(address) in config.schemes},
        )
        self._config = config
        self._transport = transport
        self._policy = AddressPolicy(allow_private=config.allow_private, nat64=config.nat64)

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`.

        A message to a chat that moved is sent once more, to the new place and within the same
        deadline. The first call was a refusal, so nothing is seen twice.
        """
        began = monotonic()
        moved: dict[UUID, str] = {}
        for result in self._round(batch, moved=moved, deadline=deadline):
            if result.delivery_id not in moved:
                yield result
        again = [
            replace(
                message, address=address_after_move(message.address, moved[message.delivery_id])
            )
            for message in batch
            if message.delivery_id in moved
        ]
        if again:
            left = max(timedelta(0), deadline - timedelta(seconds=monotonic() - began))
            places = {message.delivery_id: message.address for message in again}
            for result in self._round(again, moved={}, deadline=left):
                yield _with_new_address(result, places[result.delivery_id])

    def _round(
        self, batch: Sequence[Message], *, moved: dict[UUID, str], deadline: timedelta
    ) -> Iterator[Result]:
        """Send a batch; put the new places of chats that moved into `moved`, by delivery."""
        return rounds.send_one_request_each(
            batch,
            prepare=self._request,
            judge=partial(self._outcome, moved=moved),
            transport=self._transport,
            deadline=deadline,
        )

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """See `providers.contract.Provider.check`: tells if each allowed service can be reached."""
        homes = {name: SERVICES[name].home for name in sorted(self._config.schemes)}
        names = [name for name, home in homes.items() if home]
        requests = [
            Request(url=self._own(homes[name]) or homes[name], headers=[], method="GET")
            for name in names
        ]
        replies = self._transport.send(requests, deadline=deadline)
        for index, reply in sorted(replies, key=itemgetter(0)):
            yield replace(http_outcomes.reachability(reply), subject=names[index])

    def _request(self, message: Message) -> Request:
        name = scheme(message.address)
        if name not in self._config.schemes:
            allowed = ", ".join(sorted(self._config.schemes))
            raise Unsendable("unsupported_address", f"an address starts with one of {allowed}")
        drafted = draft(message, service=SERVICES[name], sender=self._config.from_)
        headers = [*drafted.headers, "Idempotency-Key: " + message.idempotency_key]
        return self._set_target(replace(drafted, headers=headers))

    def _set_target(self, request: Request) -> Request:
        """Send the request to a configured local server, or guard the request."""
        own = self._own(request.url)
        if own:
            return replace(request, url=own)
        self._policy.check_url(request.url)
        return replace(request, guard=self._policy)

    def _own(self, url: str) -> str:
        """Return the replacing URL on a configured local server; empty: no local server."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        base = self._config.endpoints.get(origin, "")
        return base and base + url.removeprefix(origin)

    def _outcome(self, reply: Reply, message: Message, *, moved: dict[UUID, str]) -> Outcome:
        address, name = message.address, scheme(message.address)
        if isinstance(reply, Failure):
            return http_outcomes.outcome_of(reply, accepted=lambda _: Accepted(), hide=address)
        service = SERVICES[name]
        answer = service.read(reply)
        if answer.moved_to:
            moved[message.delivery_id] = answer.moved_to
        if reply.is_success and not answer.code:
            return Accepted(message_id=answer.message_id)
        detail = _detail(reply.body, address=address)
        wait = reply.retry_after or answer.retry_after
        for word in filter(None, (answer.code, str(reply.status))):
            code = f"{name}:{word}"
            verdict = self._config.codes.get(code) or service.codes.get(word)
            if verdict is not None:
                return verdicts.outcome(verdict, code=code, detail=detail, retry_after=wait)
        if reply.is_success:
            return Rejected(code=f"{name}:{answer.code}", detail=detail)
        outcome = http_outcomes.of_status(replace(reply, retry_after=wait), detail=detail)
        if isinstance(outcome, Misconfigured):  # its credentials are a part of this address
            return Rejected(code=outcome.code, detail=detail, may_be_misconfigured=True)
        return outcome


def _with_new_address(result: Result, address: str) -> Result:
    """Name the new address of a message that was accepted there."""
    if not isinstance(result.outcome, Accepted):
        return result
    return replace(result, outcome=replace(result.outcome, new_address=address))


def _detail(body: bytes, *, address: str) -> str:
    """Return the start of an answer without the parts of an address: the parts are tokens."""
    for part in _PARTS_OF_AN_ADDRESS.findall(unquote(address)):
        body = body.replace(part.encode(errors="replace"), b"[address]")
    return http_outcomes.excerpt(body, hide=address)


VENDOR: Final = Vendor(NAME, Config, AppriseChat)
