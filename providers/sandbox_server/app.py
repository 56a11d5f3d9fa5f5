"""The sandbox's HTTP handlers, and the outcome of each call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from secrets import token_hex
from typing import Any, Final, assert_never
from urllib.parse import parse_qsl, urlsplit

import orjson

from providers import clock
from providers.contract import Channel
from providers.sandbox_server import page
from providers.sandbox_server.ledger import DeliveryRecord, Ledger, RecordedCall
from providers.sandbox_server.receipts import Note, ReceiptSender
from providers.sandbox_server.steering import (
    DEFAULT_RETRY_AFTER_SECONDS,
    REFUSALS,
    Ending,
    Steering,
    steering_of,
    unknown_words,
)
from providers.sandbox_server.webhooks import WebhookReceiver
from providers.sandbox_server.wire import ServerAnswer, ServerRequest

FILTERS: Final[tuple[str, ...]] = ("delivery_id", "notification_id", "address", "channel")
REQUIRED: Final = ("delivery_id", "channel", "address")
_MAY_WAIT: Final = HTTPStatus.TOO_MANY_REQUESTS
"""This status and those above it carry Retry-After."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_READS: Final = frozenset({"GET", "HEAD"})


@dataclass(slots=True)
class App:
    """The sandbox without sockets."""

    ledger: Ledger
    sender: ReceiptSender | None
    """Sender of receipts; None: no receipts are sent."""
    steer: dict[str, str] = field(default_factory=dict)
    """Words for all addresses of a channel, by channel."""
    hosts: frozenset[str] = frozenset()
    """Allowed host names beside the loopback's names."""
    webhooks: WebhookReceiver = field(default_factory=WebhookReceiver)
    admin_url: str = ""
    """URL of the service's admin, to which messages on the page link; empty: no links."""

    def handle(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        """Answer a request; see the package for the table of paths."""
        if refused := _foreign_page(request, hosts=self.hosts):
            return _problem(HTTPStatus.FORBIDDEN, refused)
        return self.webhooks.answer(request) or self._act(request)

    def _act(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        match request.method, request.path:
            case "POST", "/v1/messages":
                return self._message(request)
            case "POST", "/steer":
                return self._steer(request)
            case "POST", "/reply":
                return self._reply(request)
            case "DELETE", "/messages":
                self.ledger.clear()
                return _json({})
            case "GET", _:
                return self._look(request)
            case _:
                return _problem(HTTPStatus.NOT_FOUND, "no such path")

    def _look(self, request: ServerRequest) -> ServerAnswer:
        match request.path:
            case "/":
                asked = page.PageQuery(
                    channel=request.query.get("channel", ""), words=request.query.get("q", "")
                )
                return page.render(
                    self.ledger,
                    asked,
                    can_answer=self.sender is not None,
                    admin_url=self.admin_url,
                )
            case "/messages.json":
                return self._messages(request.query)
            case "/stats.json":
                return _json(self.ledger.stats())
            case "/steer":
                return _json(self.steer)
            case "/healthz":
                return _json({"status": "ok"})
            case _:
                return _problem(HTTPStatus.NOT_FOUND, "no such path")

    def _messages(self, query: dict[str, str]) -> ServerAnswer:
        try:
            since = datetime.fromisoformat(query["since"]) if "since" in query else None
            limit = int(query["limit"]) if "limit" in query else None
            equal = {name: query[name] for name in FILTERS if name in query}
            found = self.ledger.select(equal=equal, since=since, limit=limit)
        except (ValueError, TypeError):
            return _problem(
                HTTPStatus.BAD_REQUEST, "since is an instant with its offset, limit a number"
            )
        return _json({"messages": found})

    def _steer(self, request: ServerRequest) -> ServerAnswer:
        try:
            wish = orjson.loads(request.body or b"{}")
            words = str(wish.get("words", ""))
            labels = [Channel.from_label(label).label for label in wish.get("channels", ())]
        except (ValueError, AttributeError, KeyError, TypeError):
            return _problem(HTTPStatus.BAD_REQUEST, "send words, and channels if not all")
        if unknown := unknown_words(words):
            return _problem(HTTPStatus.BAD_REQUEST, f"unknown words: {', '.join(unknown)}")
        for label in labels or [channel.label for channel in Channel]:
            self.steer[label] = words
        return _json(self.steer)

    def _reply(self, request: ServerRequest) -> ServerAnswer:
        """Send the answer of the person with the address; return the page."""
        form = dict(parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True))
        if self.sender is None or "address" not in form or "text" not in form:
            detail = "send address and text, to a sandbox that was given --receipts-url"
            return _problem(HTTPStatus.BAD_REQUEST, detail)
        line = {
            "from": form["address"],
            "to": "sandbox",
            "text": form["text"],
            "message_id": f"sbx_in_{token_hex(10)}",
            "occurred_at": clock.now().isoformat(),
        }
        self.sender.schedule([Note(line, log=[], is_text=True)], delay_seconds=0)
        return ServerAnswer(status=HTTPStatus.SEE_OTHER, headers=(("Location", "./?channel=sms"),))

    def _message(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        message = _parse(request.body)
        if message is None:
            return _problem(HTTPStatus.BAD_REQUEST, f"a message has {', '.join(REQUIRED)}")
        entry = self.ledger.entry(message)
        also = self.steer.get(message["channel"], "")
        steering = steering_of(message["address"], also=also).at_call(len(entry.calls) + 1)
        if steering.refusal is not None:
            self._record(entry, request, effect="refused", status=steering.refusal)
            return _after(steering.delay_seconds, _refusal(steering, channel=message["channel"]))
        if steering.ending is Ending.STALL:
            self._record(entry, request, effect="refused", status=0)
            return _never()
        is_withdrawal = message.get("is_withdrawal") is True
        return self._accept(entry, request, steering=steering, is_withdrawal=is_withdrawal)

    def _accept(
        self,
        entry: DeliveryRecord,
        request: ServerRequest,
        *,
        steering: Steering,
        is_withdrawal: bool,
    ) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        dedup = steering.dedup and request.headers.get("sandbox-dedup") != "no"
        key = request.headers.get("idempotency-key", "")
        known = entry.accepted.get(key, "") if dedup else ""
        message_id = known or f"sbx_{token_hex(10)}"
        answered = steering.ending is Ending.ANSWER
        effect = "withdrawn" if is_withdrawal else "shown"
        self._record(
            entry,
            request,
            effect="duplicate" if known else effect,
            status=HTTPStatus.ACCEPTED if answered else 0,
            message_id=message_id,
        )
        notes = (
            []
            if known or is_withdrawal
            else _notes(entry, steering=steering, message_id=message_id)
        )
        answer = _json(
            {"message_id": message_id, "duplicate": bool(known)}, status=HTTPStatus.ACCEPTED
        )
        if self.sender is not None and notes and steering.receipt_early:
            return _receipts_first(self.sender, notes, steering=steering, answer=answer)
        if self.sender is not None and notes:
            self.sender.schedule(notes, delay_seconds=steering.receipt_delay_seconds)
        return _end(steering, answer)

    def _record(
        self,
        entry: DeliveryRecord,
        request: ServerRequest,
        *,
        effect: str,
        status: int,
        message_id: str = "",
    ) -> None:
        headers = request.headers
        call = RecordedCall(
            at=clock.now().isoformat(),
            idempotency_key=headers.get("idempotency-key", ""),
            effect=effect,
            status=status,
            message_id=message_id,
            traceparent=headers.get("traceparent", ""),
            user_agent=headers.get("user-agent", ""),
        )
        self.ledger.record(entry, call)


def _parse(body: bytes) -> dict[str, Any] | None:
    try:
        message = orjson.loads(body)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    return message if all(isinstance(message.get(name), str) for name in REQUIRED) else None


def _notes(entry: DeliveryRecord, *, steering: Steering, message_id: str) -> list[Note]:
    line = {
        "delivery_id": entry.message["delivery_id"],
        "message_id": message_id,
        "occurred_at": clock.now().isoformat(),
    }
    notes = []
    for kind in steering.receipts:
        code = {"code": "no_such_address"} if kind == "bounced" else {}
        notes.append(Note(line | {"kind": kind} | code, log=entry.receipts))
    return notes


async def _receipts_first(
    sender: ReceiptSender, notes: list[Note], *, steering: Steering, answer: ServerAnswer
) -> ServerAnswer | None:
    await sender.send(notes)
    end = _end(steering, answer)
    return end if isinstance(end, ServerAnswer) else await end


def _end(steering: Steering, answer: ServerAnswer) -> ServerAnswer | Awaitable[ServerAnswer | None]:
    match steering.ending:
        case Ending.ANSWER:
            return _after(steering.delay_seconds, answer)
        case Ending.CRASH:
            return _after_a_while(steering.delay_seconds, None)
        case Ending.HANG | Ending.STALL:
            return _never()
        case _:
            assert_never(steering.ending)


def _refusal(steering: Steering, *, channel: str) -> ServerAnswer:
    status = HTTPStatus(steering.refusal or HTTPStatus.INTERNAL_SERVER_ERROR)
    seconds = steering.retry_after_seconds
    if seconds is None and status == HTTPStatus.TOO_MANY_REQUESTS:
        seconds = DEFAULT_RETRY_AFTER_SECONDS
    headers = (("Retry-After", str(seconds)),) if seconds and status >= _MAY_WAIT else ()
    code = REFUSALS[status]
    if code == "invalid_address" and channel == Channel.SMS.label:
        code = "invalid_number"
    body = {"code": code, "detail": "the address asked for this answer"}
    return ServerAnswer(status=status, body=orjson.dumps(body), headers=headers)


def _after(
    delay_seconds: float, answer: ServerAnswer
) -> ServerAnswer | Awaitable[ServerAnswer | None]:
    return _after_a_while(delay_seconds, answer) if delay_seconds else answer


async def _after_a_while(delay_seconds: float, answer: ServerAnswer | None) -> ServerAnswer | None:
    await asyncio.sleep(delay_seconds)
    return answer


async def _never() -> ServerAnswer | None:
    await asyncio.Event().wait()  # until the client goes away
    return None


def _json(content: object, *, status: int = HTTPStatus.OK) -> ServerAnswer:
    return ServerAnswer(status=status, body=orjson.dumps(content))


def _problem(status: HTTPStatus, detail: str) -> ServerAnswer:
    return _json({"code": status.phrase.lower().replace(" ", "_"), "detail": detail}, status=status)


def _foreign_page(request: ServerRequest, *, hosts: frozenset[str]) -> str:
    """Return the reason for a refusal; empty if the request is allowed.

    The sandbox listens on the developer's machine without a sign-in, and holds messages with codes.
    A page of another site can make the browser send requests to the sandbox: under the sandbox's
    name, which `Origin` shows, or under a foreign name that resolves to 127.0.0.1, which `Host`
    shows.

    Args:
        request: any request.
        hosts: names besides the loopback's that Host may have.
    """
    host = request.headers.get("host")  # browsers always send it
    if host is not None and _host_name(host) not in _LOOPBACK | hosts:
        return "this Host is not the sandbox's: start it with --allow-host"
    origin = request.headers.get("origin")
    if request.method not in _READS and origin is not None and urlsplit(origin).netloc != host:
        return "a page of another site may change nothing here"
    return ""


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
