"""The ASGI application of a live process.

    GET /v1/inbox/{user_id}/stream   server-sent events; `{user_id}` may be `me`
    GET /healthz                     the process answers
    GET /readyz                      503 before the process has reached its database for the first
                                     time, and while the process stops; lists present troubles
    GET /metrics                     figures of the process in Prometheus's format

The token is in the header Authorization only, never in the URL. No log line has a token, a user id
or a path.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import math
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import parse_qs

import orjson
import prometheus_client
from django.db import Error

from notifications.core import clock
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.recipient_tokens import RecipientToken, TokenRefused, TokenScope
from notifications.core.store.postgres import host_clock
from notifications.core.store.rate_limits import address_limits
from notifications.core.store.rate_limits.address_limits import Bucket
from notifications.core.store.recipient_tokens import cors, signing_keys, verification
from notifications.core.telemetry import exposition
from notifications.features.inbox.live import figures
from notifications.features.inbox.live.reads import closing_on_error
from notifications.features.inbox.live.service import Service
from notifications.features.inbox.live.stream import Send, Stream

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Headers: TypeAlias = Mapping[str, str]
T = TypeVar("T")

ABORT: Final = "notify.abort"
"""ASGI extension: a function that ends the connection at once (see `notifyproj.live`)."""
_PREFIX, _SUFFIX = "/v1/inbox/", "/stream"
_ME: Final = "me"
_MOST_VERSION: Final = (1 << 63) - 1
_MOST_DIGITS: Final = len(str(_MOST_VERSION))
_TOKEN_THREADS: Final = 4
_STREAM_HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx passes each event on at once
}


class RefusedError(Exception):
    """The request gets a problem with `headers`."""

    def __init__(self, problem: Problem, headers: Headers | None = None) -> None:
        """Store the problem."""
        super().__init__(problem.detail)
        self.problem = problem
        self.headers = headers or {}


ProblemBody: TypeAlias = Callable[[Problem], Mapping[str, Any]]
"""Returns a problem as the JSON object of the API."""
AddressKey: TypeAlias = Callable[[str, str], str]
"""Returns the key of a client for rate limits, from its address and `X-Forwarded-For`."""


class Application:
    """The ASGI application."""

    def __init__(
        self, service: Service, problem_body: ProblemBody, address_key: AddressKey
    ) -> None:
        """Create the application; the caller runs the tasks of the service."""
        self._service = service
        self._hub = service.hub
        self._problem_body = problem_body
        self._address_key = address_key
        self._threads = ThreadPoolExecutor(_TOKEN_THREADS, thread_name_prefix="live-tokens")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        try:
            await self._route(scope, receive, send)
        except RefusedError as refused:
            await self._refuse(refused, send)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        plain = {"/healthz": self._health, "/readyz": self._ready, "/metrics": self._metrics}
        user_id = path.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        if path in plain and method == "GET":
            await plain[path](send)
        elif path != f"{_PREFIX}{user_id}{_SUFFIX}" or not user_id or "/" in user_id:
            raise RefusedError(Problem(Kind.NOT_FOUND, "the live process serves streams only"))
        elif method == "OPTIONS":
            await self._preflight(_headers(scope), send)
        elif method == "GET":
            await self._stream(scope, user_id, receive, send)
        else:
            problem = Problem(Kind.METHOD_NOT_ALLOWED, "read a stream with GET")
            raise RefusedError(problem, {"allow": "GET, OPTIONS"})

    async def _stream(self, scope: Scope, user_id: str, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        address = self._address_key(*_addresses(scope, headers))
        token = await self._token(headers, address)
        cors_headers = await self._cors(headers, token.producer_id)
        if "origin" in headers and "Access-Control-Allow-Origin" not in cors_headers:
            raise RefusedError(Problem(Kind.FORBIDDEN, "the producer does not permit the origin"))
        try:
            self._check(token, user_id)
            version = _version(headers, scope["query_string"])
        except RefusedError as refused:
            refused.headers = {**refused.headers, **cors_headers}
            raise
        stream = Stream(send, scope["extensions"][ABORT]["call"], token=token, version=version)
        await _start(send, 200, {**_STREAM_HEADERS, **cors_headers})
        figures.OPENED.inc()
        self._hub.add(stream)
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._hub.remove(stream)

    async def _token(self, headers: Headers, address: str) -> RecipientToken:
        """Return the content of the token.

        Raises:
            RefusedError: there is no valid token, or the address sent too many forged tokens.
        """
        kind, _, text = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not text:
            detail = "send a recipient token in the header Authorization: Bearer <token>"
            challenge = {"www-authenticate": "Bearer", **await self._cors(headers, None)}
            raise RefusedError(Problem(Kind.UNAUTHENTICATED, detail), challenge)
        try:
            waits = address_limits.wait(Bucket.FAILED, address)
            if waits and not signing_keys.is_cached(verification.key_id_of(text.strip())):
                raise RefusedError(_too_many(waits), await self._cors(headers, None))
            return await self._in_thread(lambda: verification.verify(text.strip()))
        except TokenRefused as refused:
            cors_headers = await self._cors(headers, refused.producer_id)
            if refused.reason.is_forgery:
                await self._count_forgery(address, cors_headers)
            challenge = {"www-authenticate": 'Bearer error="invalid_token"', **cors_headers}
            problem = Problem(Kind.UNAUTHENTICATED, str(refused))
            raise RefusedError(problem, challenge) from None

    async def _count_forgery(self, address: str, cors_headers: Headers) -> None:
        """Count a forged token of an address; an expired token of an app does not count.

        Raises:
            RefusedError: the address sent too many.
        """
        waits = await self._in_thread(lambda: address_limits.take(Bucket.FAILED, address))
        if waits:
            raise RefusedError(_too_many(waits), cors_headers)

    async def _cors(self, headers: Headers, producer_id: int | None) -> Headers:
        """Return the CORS headers of an answer; empty for a request without an origin."""
        origin = headers.get("origin", "")
        if not origin:
            return {}
        return await self._in_thread(lambda: cors.answer_headers(origin, producer_id))

    def _check(self, token: RecipientToken, user_id: str) -> None:
        """Check the rights of the token and the room of the process.

        Raises:
            RefusedError: the token gives no right to the inbox, or the process has no room.
        """
        if user_id not in {_ME, token.user_id}:
            raise RefusedError(Problem(Kind.FORBIDDEN, "the token is for another recipient"))
        if TokenScope.INBOX_READ not in token.scopes:
            detail = f"the token lacks the scope {TokenScope.INBOX_READ}"
            raise RefusedError(Problem(Kind.FORBIDDEN, detail))
        if self._hub.is_stopping or self._hub.count >= self._hub.limits.connections:
            wait = dt.timedelta(milliseconds=self._hub.retry_ms())
            detail = "the live process has no room for a further stream"
            raise RefusedError(Problem(Kind.UNAVAILABLE, detail, (), wait))

    async def _preflight(self, headers: Headers, send: Send) -> None:
        origin = headers.get("origin", "")
        permitted = await self._in_thread(lambda: cors.preflight_headers(origin))
        if permitted is None:
            raise RefusedError(Problem(Kind.FORBIDDEN, "no producer permits this origin"))
        await _answer(send, 204, b"", permitted)

    async def _health(self, send: Send) -> None:
        await _answer_json(send, 200, {"status": "ok"})

    async def _ready(self, send: Send) -> None:
        wrong = self._service.wrong()
        has_started = clock.is_compared()
        if not has_started:
            wrong = [host_clock.fault(), *wrong]
        status = "ready" if not wrong else "degraded" if has_started else "starting"
        if self._hub.is_stopping:
            status = "stopping"
        body = {
            "status": status,
            "wrong": wrong,
            "connections": self._hub.count,
            "limit": self._hub.limits.connections,
            "state": "ok" if self._service.subscriptions.is_connected else "away",
            "database": "away" if self._hub.is_database_away else "ok",
        }
        await _answer_json(send, 503 if status in {"starting", "stopping"} else 200, body)

    async def _metrics(self, send: Send) -> None:
        text = await self._in_thread(lambda: exposition.text(figures.REGISTRY))
        headers = {"content-type": prometheus_client.CONTENT_TYPE_PLAIN_0_0_4}
        await _answer(send, 200, text, headers)

    async def _refuse(self, refused: RefusedError, send: Send) -> None:
        problem = refused.problem
        status = int(problem.kind.status)
        figures.REFUSED.labels(str(status)).inc()
        headers = {"content-type": "application/problem+json", **refused.headers}
        if problem.retry_after is not None:
            headers["retry-after"] = str(math.ceil(problem.retry_after.total_seconds()))
        await _answer(send, status, orjson.dumps(self._problem_body(problem)), headers)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread with a database connection.

        Raises:
            RefusedError: the database is away.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, lambda: closing_on_error(work)
            )
        except Error:
            wait = dt.timedelta(milliseconds=self._hub.retry_ms())
            problem = Problem(Kind.UNAVAILABLE, "the database is away", (), wait)
            raise RefusedError(problem) from None


def _addresses(scope: Scope, headers: Headers) -> tuple[str, str]:
    """Return the address of the peer, and `X-Forwarded-For`."""
    peer, _ = scope.get("client") or ("", 0)
    return peer, headers.get("x-forwarded-for", "")


def _too_many(waits: dt.timedelta) -> Problem:
    said = "this address sends too many forged recipient tokens"
    return Problem(Kind.RATE_LIMITED, said, (), waits)


def _version(headers: Headers, query: bytes) -> int | None:
    """Return the client's inbox version; None: the client has no page.

    Raises:
        RefusedError: the version is no number.
    """
    given = parse_qs(query.decode("latin-1")).get("last_event_id", [""])[-1]
    text = headers.get("last-event-id", "") or given
    if not text:
        return None
    digits = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    if not (digits and int(text) <= _MOST_VERSION):
        detail = "Last-Event-ID is not the version of an inbox; load the first page again"
        raise RefusedError(Problem(Kind.MALFORMED, detail))
    return int(text)


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _start(send: Send, status: int, headers: Headers) -> None:
    """Begin an answer. A connection has one request, so the limits of the head hold for each."""
    headers = {**headers, "connection": "close"}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _answer(send: Send, status: int, body: bytes, headers: Headers) -> None:
    await _start(send, status, {**headers, "content-length": str(len(body))})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _answer_json(send: Send, status: int, value: Mapping[str, Any]) -> None:
    await _answer(send, status, orjson.dumps(value), {"content-type": "application/json"})
