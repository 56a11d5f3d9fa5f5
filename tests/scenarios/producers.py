"""Producers that post while servers die, repeat what is refused, and follow the change feed."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Event
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, urlsplit
from uuid import UUID

from notifyproj.devstack.demo.environment import now, pause, until
from tests.scenarios.world import World

THREADS: Final = 4
_PAUSE: Final = 0.1
"""Seconds between two requests of a thread: 40 requests a second in all."""
_LONGEST: Final = timedelta(minutes=2)
_STEP: Final = timedelta(minutes=5)
"""By which the machine's clock may be set back during a load."""
_CALLED: Final = frozenset({"sent", "delivered"})
"""Statuses behind a call that the provider took."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request."""

    status: int
    headers: http.client.HTTPMessage
    body: dict[str, Any]
    seconds: float


@dataclass(slots=True)
class Load:
    """Producers: an OTP each 100 ms; a refused request is repeated with the same key."""

    world: World
    user_id: str
    web_ends: bool = False
    """True: web is stopped meanwhile, and a request without an answer is repeated."""
    over: Event = field(default_factory=Event)
    accepted: dict[str, UUID] = field(default_factory=dict)
    """Ids by idempotency key."""
    unanswered: int = 0
    accepted_at: list[float] = field(default_factory=list)
    refused: list[Answer] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    """The change feed, as a poller with a cursor reads it."""

    def post(self, key: str) -> Answer:
        """Send an OTP with an idempotency key."""
        body = json.dumps(self.world.otp(self.user_id))
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return self._ask("POST", "/v1/notifications", body=body, headers=headers)

    def _ask(
        self,
        method: str,
        path: str,
        *,
        body: str | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Answer:
        own = self.world.service("auth-service").headers
        began = time.monotonic()
        link = http.client.HTTPConnection(urlsplit(self.world.url).netloc, timeout=60)
        try:
            link.request(method, path, body, {**own, **headers})
            answer = link.getresponse()
            found = json.loads(answer.read())
            return Answer(answer.status, answer.headers, found, time.monotonic() - began)
        finally:
            link.close()

    def follow(self, began: datetime) -> None:
        """Read the change feed since an instant, until it has told of each accepted request."""
        query = f"since={quote(began.isoformat())}"
        latest = time.monotonic() + 2 * _LONGEST.total_seconds()
        while not self.is_told():
            assert time.monotonic() < latest, "the change feed lacks an accepted request"
            path = f"/v1/notifications/changes?{query}"
            answer = self._try(partial(self._ask, "GET", path), http.HTTPStatus.OK)
            if answer is not None:
                self.changes += answer.body["results"]
                query = f"cursor={quote(answer.body['next'])}"
            pause(_PAUSE)

    def is_told(self) -> bool:
        """Return True if the load is over, and the feed has told that each was sent or delivered.

        A receipt may come before the settle, and a receipt that met the gap may be missing.
        """
        found = {each["notification_id"] for each in self.changes if each["status"] in _CALLED}
        accepted = list(self.accepted.values())  # at once: a thread of the load may add to it
        return self.over.is_set() and {str(each) for each in accepted} <= found

    def _try(self, request: Callable[[], Answer], wanted: http.HTTPStatus) -> Answer | None:
        """Return the answer with the wanted status; None: the request was refused."""
        try:
            answer = request()
        except (OSError, http.client.HTTPException):
            if not self.web_ends:
                raise
            self.unanswered += 1
            return None
        if answer.status == wanted:
            return answer
        self.refused.append(answer)
        return None

    def _send(self, name: str) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            key = f"{self.user_id}-{name}-{number}"
            while (answer := self._try(partial(self.post, key), http.HTTPStatus.ACCEPTED)) is None:
                pause(_PAUSE)
            self.accepted[key] = UUID(answer.body["notification_id"])
            self.accepted_at.append(time.monotonic())
            self.over.wait(_PAUSE)

    @contextmanager
    def running(self) -> Iterator[None]:
        began = now() - _STEP
        with ThreadPoolExecutor(THREADS + 1) as pool:
            sending: list[Future[None]] = [
                pool.submit(self._send, str(number)) for number in range(THREADS)
            ]
            sending.append(pool.submit(self.follow, began))
            try:
                self.until_more(20)
                yield
            finally:
                self.over.set()
            for each in sending:
                each.result()

    def until_more(self, count: int) -> None:
        """Wait until `count` more requests are accepted."""
        wanted = len(self.accepted) + count
        until(lambda: len(self.accepted) >= wanted, what=f"{count} are accepted", within=_LONGEST)

    def gap(self, since: float) -> float:
        """Return the longest time between two accepted requests after an instant, in seconds."""
        times = [each for each in self.accepted_at if each >= since]
        return max(b - a for a, b in zip([since, *times], times, strict=False))

    def check(self) -> None:
        """Nothing accepted is lost or there twice, and each refusal says when to come back.

        The change feed has told of each change once.
        """
        ids = list(self.accepted.values())
        assert len(set(ids)) == len(ids)
        self.world.settled(ids, within=_LONGEST)
        assert Counter(self.world.shown(ids)) == {1: len(ids)}
        changes = Counter(json.dumps(each, sort_keys=True) for each in self.changes)
        assert set(changes.values()) == {1}
        for answer in self.refused:
            assert _is_unavailable(answer) or _is_in_progress(answer), answer
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert int(answer.headers["Retry-After"]) > 0


def _is_unavailable(answer: Answer) -> bool:
    return answer.status == http.HTTPStatus.SERVICE_UNAVAILABLE


def _is_in_progress(answer: Answer) -> bool:
    """Return True for a repeat while the first request still waits on the server before."""
    kind: str = answer.body["type"]
    return answer.status == http.HTTPStatus.CONFLICT and kind.endswith(":in-progress")
