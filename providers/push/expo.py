"""Expo's push service: apps made with Expo, on Android and iOS.

    POST {url}/--/api/v2/push/send      up to 100 messages
    ->  200 {"data": [ticket, ...]}     a ticket for each message, in the order of the request
    ->  4xx, 5xx {"errors": [{"code": ..., "message": ..., "details": ...}]}    nothing was sent

| answer | outcome |
| --- | --- |
| ticket with status `ok` | Accepted |
| ticket with a code of TABLE, or of NOTIFY_EXPO_CODES | as there |
| ticket with another error | Rejected |
| 2xx without a ticket for each message | Unanswered |
| 4xx that refuses several messages for good | the messages are sent again in smaller requests |
| UNAUTHORIZED, after Expo accepted a message | Rejected, the token is of another account |
| others | TABLE, then `providers.http_outcomes` |

Expo refuses a request as a whole for one malformed message, and for tokens of several projects; a
token does not tell its project. The second error has the projects with their tokens in `details`.

Expo has no key against repeats. A ticket is the word of Expo alone; `expo_receipts` reads what
Apple or Google answered.

Source: https://docs.expo.dev/push-notifications/sending-notifications/
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any, Final, TypeAlias

import orjson

from providers import configuration, http_outcomes, rounds, verdicts
from providers.configuration import parse_with
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Outcome,
    Pace,
    Rejected,
    Repeat,
    Result,
    Unanswered,
)
from providers.push import expo_receipts, expo_token
from providers.receipt_lookup import Answer
from providers.rounds import Unsendable
from providers.transport import Failure, Reply, Request, Transport
from providers.vendor import OneWay, Vendor
from providers.verdicts import Verdict

NAME: Final = "expo"

MESSAGES_PER_REQUEST: Final = 100
"""Above the number Expo answers PUSH_TOO_MANY_NOTIFICATIONS."""

PER_SECOND: Final = 600
"""Notifications a second of a project; above the rate Expo answers TOO_MANY_REQUESTS."""

PAYLOAD_LIMIT_BYTES: Final = 4096
"""Title, body and data together, as Apple and Google take them from Expo."""

LONGEST_LIFE: Final = timedelta(weeks=4)
"""FCM, which delivers to Android for Expo, refuses a longer `ttl`."""

CODE_LIMIT: Final = 64
"""Characters of an error's code."""

SEVERAL_PROJECTS: Final = "PUSH_TOO_MANY_EXPERIENCE_IDS"

UNAUTHORIZED: Final = "UNAUTHORIZED"
"""The access token is wrong; or the token is of a project of another account, with "enhanced push
security"."""

NO_RECEIPT: Final = "00000000-0000-0000-0000-000000000000"
"""The id of a receipt that does not exist: the target of a check."""

TABLE: Final[verdicts.Table] = {
    # `details.error` of a ticket
    "DeviceNotRegistered": Verdict.DEAD,
    "MessageTooBig": Verdict.REJECTED,
    "MessageRateExceeded": Verdict.THROTTLED,  # to the same device
    # The project lacks a good key of APNs or FCM: of one platform, the other is sent to.
    "InvalidCredentials": Verdict.REJECTED_OR_MISCONFIGURED,
    "MismatchSenderId": Verdict.REJECTED_OR_MISCONFIGURED,
    # `code` of a refused request
    "TOO_MANY_REQUESTS": Verdict.THROTTLED,
    UNAUTHORIZED: Verdict.MISCONFIGURED,  # until the account is known, see `_verdict`
}
"""The HTTP status decides for an unknown code of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Settings `NOTIFY_EXPO_*`."""

    access_token: str = field(repr=False, metadata=parse_with(str))
    """Access token of the Expo account, with which nobody else sends to a leaked push token."""
    per_second: int = field(default=PER_SECOND, metadata=parse_with(configuration.positive_number))
    """The project's limit."""
    url: str = field(default="https://exp.host", metadata=parse_with(configuration.http_url))
    codes: verdicts.Table = field(default_factory=dict, metadata=parse_with(verdicts.overrides))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A message, and its part of the JSON array of a request."""

    message: Message
    body: bytes


_Part: TypeAlias = Sequence[_Entry]
"""The entries of one request."""


class Expo(OneWay):
    """See `providers.contract.Provider`."""

    name: Final = NAME
    lookup = expo_receipts.LOOKUP

    def __init__(self, config: Config, *, transport: Transport) -> None:
        """Store the settings; the first `send` connects."""
        self.capabilities: Final = Capabilities(
            marks_begin=True,
            channels=frozenset({Channel.PUSH}),
            repeat=Repeat.VISIBLE,
            gives_receipts=False,
            address_kinds=frozenset({expo_token.KIND}),
            pace=Pace.even(config.per_second),
        )
        self._transport = transport
        self._codes = config.codes
        self._was_accepted = False
        """Expo has accepted a message with the access token."""
        self._url = config.url + "/--/api/v2/push/"
        self._headers = [
            "Content-Type: application/json",
            "Accept: application/json",
            "Authorization: Bearer " + config.access_token,
        ]

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        """See `providers.contract.Provider.send`."""
        began = monotonic()
        entries: list[_Entry] = []
        for message in batch:
            try:
                entries.append(_Entry(message, _body(message)))
            except Unsendable as error:
                yield rounds.unsent(message, error.outcome)
        parts = _slices(entries, MESSAGES_PER_REQUEST)
        noted = [partial(_note_begin, part) for part in parts]
        while parts:  # each round has smaller requests than the round before it
            smaller: list[_Part] = []
            left = max(timedelta(0), deadline - timedelta(seconds=monotonic() - began))
            requests = [self._request(part) for part in parts]
            for index, reply in self._transport.send(requests, deadline=left, begins=noted):
                part, answer = parts[index], _answer(reply)
                if len(part) > 1 and self._refuses_for_good(reply, answer):
                    smaller += _divide(part, answer)
                else:
                    yield from self._results(part, reply, answer)
            parts, noted = smaller, []

    def look_up_receipts(self, message_ids: Sequence[str], *, deadline: timedelta) -> Answer:
        """See `providers.receipt_lookup.LooksUpReceipts` and `expo_receipts`."""
        request = self._question(message_ids)
        [(_, reply)] = self._transport.send([request], deadline=deadline)
        verdict_of = partial(verdicts.look_up, table=TABLE, overrides=self._codes)
        return expo_receipts.read(reply, message_ids, verdict_of=verdict_of)

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        """Request a receipt that does not exist; no message is sent."""
        request = self._question([NO_RECEIPT])
        for _index, reply in self._transport.send([request], deadline=deadline):
            if isinstance(reply, Failure):
                yield http_outcomes.reachability(reply)
                return
            detail = f"HTTP {reply.status} {_code(_answer(reply))}".rstrip()
            yield Finding(subject="credentials", is_good=reply.is_success, detail=detail)

    def _question(self, message_ids: Sequence[str]) -> Request:
        return Request(
            url=self._url + "getReceipts",
            headers=self._headers,
            body=rounds.json_body({"ids": list(message_ids)}),
            body_limit_bytes=expo_receipts.ANSWER_LIMIT_BYTES,
        )

    def _request(self, part: _Part) -> Request:
        return Request(
            url=self._url + "send",
            headers=self._headers,
            body=b"[%b]" % b",".join(entry.body for entry in part),
            urgent=any(entry.message.urgent for entry in part),
        )

    def _refuses_for_good(self, reply: Reply, answer: Mapping[str, Any]) -> bool:
        refused = isinstance(self._of_request(reply, answer), Rejected)
        return refused or _code(answer) == UNAUTHORIZED

    def _results(self, part: _Part, reply: Reply, answer: Mapping[str, Any]) -> Iterator[Result]:
        refused = self._of_request(reply, answer)
        if _code(answer) == UNAUTHORIZED:
            self._was_accepted = False  # a second such answer in a row counts against the account
        tickets = answer.get("data")
        if not isinstance(tickets, list) or len(tickets) != len(part):
            tickets = [None] * len(part)
        for entry, ticket in zip(part, tickets, strict=True):
            outcome = refused or self._of_ticket(ticket, hide=entry.message.address)
            yield rounds.result_of(entry.message, outcome, reply=reply)

    def _of_request(self, reply: Reply, answer: Mapping[str, Any]) -> Outcome | None:
        """Return the outcome of each message of a failed request; None for a request with tickets.

        The text of the answer names tokens, so only the code is kept.
        """
        if isinstance(reply, Failure):
            return http_outcomes.of_failure(reply)
        if reply.is_success:
            return None
        code = _code(answer)
        verdict = self._verdict(code)
        if verdict is None:
            return http_outcomes.of_status(reply, detail="", code=code)
        return verdicts.outcome(verdict, code=code, detail="", retry_after=reply.retry_after)

    def _verdict(self, code: str) -> Verdict | None:
        """Judge the code of a refused request; one token must not count against the account."""
        if code == UNAUTHORIZED and code not in self._codes and self._was_accepted:
            return Verdict.DEAD_OR_MISCONFIGURED
        return verdicts.look_up(code, TABLE, self._codes)

    def _of_ticket(self, ticket: object, *, hide: str) -> Outcome:
        said: Mapping[str, Any] = ticket if isinstance(ticket, dict) else {}
        if said.get("status") == "ok":
            self._was_accepted = True
            return Accepted(message_id=str(said.get("id", "")))
        if said.get("status") != "error":
            return Unanswered(code="unreadable")
        details = said.get("details")
        code = str(details.get("error", "")) if isinstance(details, dict) else ""
        verdict = verdicts.look_up(code, TABLE, self._codes) or Verdict.REJECTED
        detail = http_outcomes.excerpt(str(said.get("message", "")).encode(), hide=hide)
        return verdicts.outcome(verdict, code=code[:CODE_LIMIT] or "error", detail=detail)


def _body(message: Message) -> bytes:
    """Return the JSON of a message.

    Raises:
        Unsendable: the address is no Expo push token, or Expo would refuse the message.
    """
    if not expo_token.is_token(message.address):
        # Of another vendor perhaps, by a route without a kind: the contact stays.
        raise Unsendable("malformed_token", "no Expo push token")
    texts = {"title": message.title, "body": message.body}
    content: dict[str, object] = {name: text for name, text in texts.items() if text}
    content["data"] = {
        **message.data,
        "notification_id": str(message.notification_id),
        "delivery_id": str(message.delivery_id),
    }
    rounds.json_body(content, limit_bytes=PAYLOAD_LIMIT_BYTES)
    life = max(0, int(min(message.time_to_live, LONGEST_LIFE).total_seconds()))
    return rounds.json_body({
        **content,
        "to": message.address,
        "ttl": life,
        "priority": "high" if message.urgent else "normal",
        # Lets the app's Notification Service Extension run, and report the arrival.
        "mutableContent": True,
    })


def _note_begin(part: _Part) -> None:
    for entry in part:
        if entry.message.on_begin is not None:
            entry.message.on_begin()


def _slices(entries: _Part, size: int) -> list[_Part]:
    return [entries[start : start + size] for start in range(0, len(entries), size)]


def _divide(part: _Part, answer: Mapping[str, Any]) -> list[_Part]:
    """Return a request's entries by project, if the answer names several projects; else alone."""
    projects = _projects(answer) if _code(answer) == SEVERAL_PROJECTS else {}
    groups: defaultdict[str, list[_Entry]] = defaultdict(list)
    for entry in part:
        groups[projects.get(entry.message.address, "")].append(entry)
    alone = _slices(groups.pop("", []), 1)
    divided = [*groups.values(), *alone]
    return divided if len(divided) > 1 else _slices(part, 1)


def _projects(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the project of each token that the error lists; empty without a readable list."""
    match answer.get("errors"):
        case [{"details": dict(details)}, *_]:
            return {
                str(token): name
                for name, tokens in details.items()
                if isinstance(tokens, list)
                for token in tokens
            }
        case _:
            return {}


def _code(answer: Mapping[str, Any]) -> str:
    """Return the code of the first error of a request; "" for an answer without a code."""
    match answer.get("errors"):
        case [{"code": str(code)}, *_]:
            return code[:CODE_LIMIT]
        case _:
            return ""


def _answer(reply: Reply) -> Mapping[str, Any]:
    """Read the JSON of an answer; empty without an answer, and for a text that is no object."""
    if isinstance(reply, Failure):
        return {}
    try:
        answer = orjson.loads(reply.body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


VENDOR: Final = Vendor(NAME, Config, Expo)
