"""Where a story is played: the API with its keys, the sandbox, the workers and the broker."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

import redis

Found = TypeVar("Found")

_TIMEOUT_SECONDS: Final = 30.0
"""Of one request: a batch of a thousand on a busy machine takes a few seconds."""
_SUCCESS: Final = 2
"""First digit of a status."""
_LOOK_SECONDS: Final = 0.1
"""Between two looks at something that is awaited."""
_PAGE: Final = 100
"""Notifications read at a time, the most that the API gives."""

PATIENT: Final = ("channels", "transactional")
"""The workers of P1 to P3, as the table of `supervisor.programs` names them."""
DELIVERING: Final = ("p0", *PATIENT)
"""All workers that call providers."""


class TooLate(Exception):
    """What was awaited did not come in time; the message says what."""


class Unexpected(Exception):
    """The API gave another answer than the story needs; the message quotes its status and body."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that was as expected."""

    body: dict[str, Any]
    headers: Message
    """Found whatever their case."""


@dataclass(frozen=True, slots=True)
class Http:
    """JSON over HTTP to one server, a connection for each request."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        """Send one request.

        Raises:
            Unexpected: the answer is no success.
            OSError: there was no answer.
        """
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT_SECONDS)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        raw = None if body is None else json.dumps(body).encode()
        try:
            connection.request(
                method, path, raw, {"Content-Type": "application/json", **self.headers, **sent}
            )
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status // 100 != _SUCCESS:
            raise Unexpected(f"{method} {path}: {answer.status} {text[:300].decode()}")
        return Reply(json.loads(text or b"null"), answer.headers)


@dataclass(frozen=True, slots=True)
class Service(Http):
    """A producer's service with its key."""

    def notify(self, asked: Mapping[str, object], *, key: str = "") -> Reply:
        """Hand in one notification."""
        headers = {"Idempotency_Key": key} if key else {}
        return self.ask("POST", "/v1/notifications", asked, **headers)

    def notify_all(self, asked: list[dict[str, object]]) -> list[str]:
        """Hand in a batch; returns the ids.

        Raises:
            Unexpected: one of them was not accepted.
        """
        reply = self.ask(
            "POST",
            "/v1/notifications/batch",
            {"notifications": asked},
        )
        bad = [one for one in reply.body["results"] if one["result"] != "accepted"]
        if bad:
            raise Unexpected(f"{len(bad)} of {len(asked)} were not accepted; the first: {bad[0]}")
        return [one["notification"]["notification_id"] for one in reply.body["results"]]

    def notification(self, notification_id: str) -> dict[str, Any]:
        """A notification with its timeline."""
        return self.ask("GET", f"/v1/notifications/{notification_id}").body

    def statuses(self, *, type_: str, since: datetime) -> dict[str, str]:
        """The status of each notification of a type since an instant, by its id."""
        found: dict[str, str] = {}
        query = {"type": type_, "since": since.isoformat(), "limit": _PAGE}
        while True:
            page = self.ask("GET", f"/v1/notifications?{urlencode(query)}").body
            found |= {one["notification_id"]: one["status"] for one in page["results"]}
            if page["next"] is None:
                return found
            query["cursor"] = page["next"]

    def person(self, user_id: str, **fields: object) -> None:
        """Make or replace a recipient."""
        self.ask("PUT", f"/v1/recipients/{user_id}", fields)


@dataclass(frozen=True, slots=True)
class Sandbox(Http):
    """The provider's other side: what people got."""

    def messages(self, **query: str) -> list[dict[str, Any]]:
        """One entry a delivery, with all calls about it, oldest first."""
        found: list[dict[str, Any]] = self.ask("GET", f"/messages.json?{urlencode(query)}").body[
            "messages"
        ]
        return found

    def steer(self, words: str, *channels: str) -> None:
        """Make every address on these channels behave like these words; none: as they are."""
        self.ask("POST", "/steer", {"words": words, "channels": channels})


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoEnvironment:
    """Everything that a story may touch."""

    orders: Service
    auth: Service
    marketing: Service
    operator: Service
    sandbox: Sandbox
    broker_url: str
    run_folder: Path
    """Where the supervisor keeps the workers' process ids."""
    run: str
    """Makes this run's idempotency keys differ from yesterday's."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> DemoEnvironment:
        """The scene that `make demo` has set.

        Raises:
            KeyError: a variable or a service's key is missing.
            OSError: the keys cannot be read.
        """
        var = Path(environ["DEMO_VAR"])
        keys = json.loads((var / "demo_keys.json").read_text())

        def service(name: str) -> Service:
            return Service(environ["NOTIFY_PUBLIC_URL"], {"Authorization": f"Bearer {keys[name]}"})

        return cls(
            orders=service("order-service"),
            auth=service("auth-service"),
            marketing=service("marketing"),
            operator=service("operator"),
            sandbox=Sandbox(environ["NOTIFY_SANDBOX_URL"]),
            broker_url=environ["CELERY_BROKER_URL"],
            run_folder=var / "run",
            run=f"{now():%m%d%H%M%S}",
        )

    def signal_worker(self, name: str, number: signal.Signals) -> int:
        """Send a signal to a worker; returns its process id.

        Raises:
            OSError: it does not run.
        """
        pid = int((self.run_folder / f"{name}.pid").read_text())
        os.killpg(pid, number)
        return pid

    def wipe_broker(self) -> None:
        """FLUSHALL: every queue and everything that a worker had not acknowledged is gone."""
        with redis.Redis.from_url(self.broker_url) as client:
            client.flushall()


def now() -> datetime:
    """This machine's clock, which the API's instants come from as well."""
    return datetime.now(UTC)  # noqa: TID251 - a producer's clock, not the product's


def until(
    look: Callable[[], Found | None], *, what: str, within: timedelta = timedelta(seconds=30)
) -> Found:
    """Look again and again until there is something true; returns it.

    Raises:
        TooLate: nothing came.
    """
    deadline = time.monotonic() + within.total_seconds()
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TooLate(f"{what}: not within {within.total_seconds():g} s")
        pause()
    return found


def pause(seconds: float = _LOOK_SECONDS) -> None:
    """Let time pass."""
    threading.Event().wait(seconds)
