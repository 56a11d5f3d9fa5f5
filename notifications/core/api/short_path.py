"""The short path: a usual `POST /v1/notifications` is answered without Django's handler and DRF.

    request --> Django                               a condition below does not hold
            --> accept --> 202                       accepted, or the first answer again
                       --> Django, with the outcome  refused, over a limit, or an error
            --> 503                                  too many bytes wait (`waiting_bodies`)

The request holds no thread while it waits for its group: the leader of the group sends the answer
by the reply of the request (`replies`), and Django answers in a thread of `request_slots`. The
short path runs without a slot: only the thread that stores a group takes one
(`store.postgres.slots.taken`). Django runs with a slot.

The view in `api.notifications` stays the definition of the operation. Its declaration and its
functions decide here too. Headers that do not depend on the request are those which Django gave to
an earlier request of the same shape: equal in every part of the environ except `_FREE`. So Django
has checked the host, the query, the content negotiation and every other header before.

The conditions: the shape is known, the key is cached and may call the operation, the body came
early (`request_slots`) and is valid, a reply, no field `to`, a trusted clock, and no exported
spans. A request that does not meet the conditions has cost nothing and stored nothing. A request
that was charged and not accepted reaches the view with its outcome (`notifications.OUTCOME`), and
the view accepts and charges nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import structlog
from django.http.response import HttpResponseBase

from notifications.core import clock
from notifications.core.api import (
    authentication,
    correlation,
    idempotency,
    json_io,
    notifications,
    throttle,
    waiting_bodies,
)
from notifications.core.api.problems import ProblemError
from notifications.core.api.replies import REPLY, Reply
from notifications.core.api.waiting_bodies import WaitingBodies
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Outcome, Single
from notifications.core.rules.problems import Problem
from notifications.core.rules.request import parse
from notifications.core.store.postgres import api_keys
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.telemetry import traces

Environ: TypeAlias = dict[str, Any]
StartResponse: TypeAlias = Callable[..., Callable[[bytes], object]]
Django: TypeAlias = Callable[[Environ, StartResponse], HttpResponseBase]
"""Django's WSGIHandler with a changed return value: the response object."""

Late: TypeAlias = Callable[[Environ, Reply], None]
"""Lets Django answer a request in another thread, by the reply of the request."""

BODY: Final = "notifications.body"
"""Key of the environ for a body that came early from a caller with a cached key."""
KEY: Final = "notifications.key"
"""Key of the environ for the cached key of the caller whose body came early."""
_OPERATION: Final = notifications.create_notification
_PATH: Final = f"/{_OPERATION.path}"
_STATUS: Final = 202
_FREE: Final = frozenset({
    BODY,
    KEY,
    REPLY,
    "CONTENT_LENGTH",
    "HTTP_AUTHORIZATION",
    "HTTP_BAGGAGE",
    "HTTP_IDEMPOTENCY_KEY",
    "HTTP_TRACEPARENT",
    "HTTP_TRACESTATE",
    "HTTP_USER_AGENT",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_REQUEST_ID",
    "REMOTE_ADDR",
    "REMOTE_PORT",
    "wsgi.errors",
    "wsgi.input",
})
"""Parts of the environ that are read here, or that no accepted answer depends on."""
_SHAPE: Final = "notifications.shape"
"""Key of the environ for the shape of a request whose headers are not known yet."""
_MOST_SHAPES: Final = 256
_Shape: TypeAlias = frozenset[tuple[str, Any]]


class ShortPath:
    """Answers usual requests, without a slot: only the leader of a group takes a slot."""

    def __init__(self, waiting: WaitingBodies | None = None) -> None:
        """Create the path without known shapes; `waiting` limits the bodies that wait."""
        self._waiting = WaitingBodies() if waiting is None else waiting
        self._headers: dict[_Shape, list[tuple[str, str]]] = {}
        """Shape of an accepted request -> the headers of Django's answer."""

    def answer(self, environ: Environ, *, late: Late) -> bool:
        """Answer a request by its reply, now or later.

        Args:
            environ: the request.
            late: lets Django answer a request, in another thread.

        Returns:
            False: Django answers now, and `learn` gets to know.
        """
        if environ["PATH_INFO"] != _PATH or BODY not in environ or REPLY not in environ:
            return False
        shape = frozenset([part for part in environ.items() if part[0] not in _FREE])
        headers = self._headers.get(shape)
        if headers is None:
            environ[_SHAPE] = shape
            return False
        started, size = clock.monotonic(), len(environ[BODY])
        if not self._waiting.enter(size):
            _refuse(environ, headers, started)
            return True
        single = None
        try:
            single = _single(environ)
        finally:
            if single is None:
                self._waiting.leave(size)
        if single is None:
            return False
        reply: Reply = environ[REPLY]
        reply.at_end = partial(self._forget, size, reply.at_end)
        _Asked(environ, headers, started, late).submit(single)
        return True

    def _forget(self, size: int, at_end: Callable[[], object]) -> None:
        self._waiting.leave(size)
        at_end()

    def learn(self, environ: Environ, answer: HttpResponseBase) -> None:
        """Keep the headers of Django's answer to an accepted request of a new shape."""
        shape = environ.get(_SHAPE)
        if shape is None or answer.status_code != _STATUS or answer.cookies:
            return
        if len(self._headers) >= _MOST_SHAPES:
            self._headers.clear()  # cheaper than keeping order, and rare
        told = answer.items()
        self._headers[shape] = [each for each in told if each[0] not in idempotency.REPLAYED]


class _Asked:
    """A request that the intake stage has."""

    __slots__ = ("_environ", "_headers", "_late", "_started", "_trace")

    def __init__(
        self, environ: Environ, headers: list[tuple[str, str]], started: float, late: Late
    ) -> None:
        self._environ = environ
        self._headers = headers
        self._late = late
        self._started = started
        self._trace = correlation.trace_id_of(environ)

    def submit(self, single: Single) -> None:
        """Submit the request; the thread of its group sends the answer."""
        self._environ[REPLY].is_later = True
        bound = structlog.contextvars.bind_contextvars(trace_id=self._trace)
        try:
            accept.submit_one(single, self._tell)
        finally:
            structlog.contextvars.reset_contextvars(**bound)

    def _tell(self, outcome: Outcome | BaseException) -> None:
        """Send the answer, or let Django answer with the outcome; raises nothing."""
        reply: Reply = self._environ[REPLY]
        try:
            answer = self._answer(outcome)
        except Exception as error:  # noqa: BLE001 - any error: the view raises it
            answer, outcome = None, error
        if answer is None:
            self._environ[notifications.OUTCOME] = outcome
            self._environ[correlation.STARTED] = self._started
            self._late(self._environ, reply)
            return
        reply.send(_STATUS, *answer)
        route, began = _OPERATION.path, self._started
        correlation.report("POST", route, _STATUS, trace=self._trace, started=began)

    def _answer(
        self, outcome: Outcome | BaseException
    ) -> tuple[list[tuple[str, str]], bytes] | None:
        """Return headers and body for an accepted request; None for any other."""
        if isinstance(outcome, BaseException) or not isinstance(outcome[0], AcceptedRequest):
            return None
        taken, quota = outcome[0], outcome[1]
        body = json_io.encode(taken.response)
        own = throttle.headers_of(quota) | {
            "Content-Length": str(len(body)),
            "X-Request-Id": self._trace,
        }
        told = [(name, own.get(name, value)) for name, value in self._headers]
        return told + list(idempotency.REPLAYED.items()) * taken.replayed, body


def _refuse(environ: Environ, headers: list[tuple[str, str]], started: float) -> None:
    """Refuse a request, of which nothing was charged or stored."""
    trace, reply = correlation.trace_id_of(environ), environ[REPLY]
    reply.is_later = True
    status, told, body = waiting_bodies.refusal(headers, trace=trace)
    reply.send(status, told, body)
    correlation.report("POST", _OPERATION.path, status, trace=trace, started=started)


def _single(environ: Environ) -> Single | None:
    """Return the valid request of a caller who may call the operation; None for any other."""
    key: KnownKey = environ[KEY]
    if not api_keys.is_current(key) or traces.are_on() or not clock.is_trusted():
        return None
    try:
        authentication.check(_OPERATION.rules[0], key)
        name = idempotency.checked(environ.get("HTTP_IDEMPOTENCY_KEY"))
        wanted = parse(json_io.decode(environ[BODY]))
    except ProblemError:
        return None
    if isinstance(wanted, Problem) or wanted.to is not None:
        return None
    return notifications.single(environ, key, wanted, idempotency_key=name)
