"""The environment of a story: the API with its keys, the sandbox, the workers and the broker."""

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
"""Timeout of a request: a batch of a thousand on a busy machine takes a few seconds."""
_SUCCESS: Final = 2
"""First digit of a status."""
_LOOK_SECONDS: Final = 0.1
"""Pause between two checks of an awaited condition."""
_PAGE: Final = 100
"""Notifications in a page, the API's maximum."""

PATIENT: Final = ("channels", "transactional")
"""The workers of P1 to P3, as the table of `supervisor.programs` names them."""
DELIVERING: Final = ("p0", "p0-2", *PATIENT)
"""All workers that call providers."""


class TooLate(Exception):
    """An awaited condition did not hold in time; the message names the condition."""


class Unexpected(Exception):
    """The API's response is not the expected one; the message quotes status and body."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A successful response."""

    body: dict[str, Any]
    headers: Message
    """Headers by name; the case of a name does not matter."""


@dataclass(frozen=True, slots=True)
class Http:
    """JSON over HTTP to a server, with a connection for each request."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        """Send one request.

        Raises:
            Unexpected: the response is no success.
            OSError: no response came.
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
        """Send a notification; `key`: the idempotency key."""
        headers = {"Idempotency_Key": key} if key else {}
        return self.ask("POST", "/v1/notifications", asked, **headers)

    def notify_all(self, asked: list[dict[str, object]]) -> list[str]:
        """Send a batch of notifications and return the ids.

        Raises:
            Unexpected: a notification was not accepted.
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
        """Return a notification with its timeline."""
        return self.ask("GET", f"/v1/notifications/{notification_id}").body

    def statuses(self, *, type_: str, since: datetime) -> dict[str, str]:
        """Return the statuses of a type's notifications since an instant, by notification id."""
        found: dict[str, str] = {}
        query = {"type": type_, "since": since.isoformat(), "limit": _PAGE}
        while True:
            page = self.ask("GET", f"/v1/notifications?{urlencode(query)}").body
            found |= {one["notification_id"]: one["status"] for one in page["results"]}
            if page["next"] is None:
                return found
            query["cursor"] = page["next"]

    def person(self, user_id: str, **fields: object) -> None:
        """Create or replace a recipient."""
        self.ask("PUT", f"/v1/recipients/{user_id}", fields)


@dataclass(frozen=True, slots=True)
class Sandbox(Http):
    """The sandbox server, which shows the messages that recipients got."""

    def messages(self, **query: str) -> list[dict[str, Any]]:
        """Return an entry for each delivery, with all calls of the delivery, oldest first."""
        found: list[dict[str, Any]] = self.ask("GET", f"/messages.json?{urlencode(query)}").body[
            "messages"
        ]
        return found

    def steer(self, words: str, *channels: str) -> None:
        """Make every address of the channels behave like `words`; empty: the usual behaviour."""
        self.ask("POST", "/steer", {"words": words, "channels": channels})


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoEnvironment:
    """Clients and settings for the stories."""

    orders: Service
    auth: Service
    marketing: Service
    operator: Service
    sandbox: Sandbox
    broker_url: str
    run_folder: Path
    """Folder of the workers' process ids, which the supervisor writes."""
    run: str
    """Part of the idempotency keys that distinguishes this run from other runs."""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> DemoEnvironment:
        """Read the environment that `make demo` has prepared.

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
        """Send a signal to a worker and return the worker's process id.

        Raises:
            OSError: the worker does not run.
        """
        pid = int((self.run_folder / f"{name}.pid").read_text())
        os.killpg(pid, number)
        return pid

    def wipe_broker(self) -> None:
        """Delete every queue and every unacknowledged message with FLUSHALL."""
        with redis.Redis.from_url(self.broker_url) as client:
            client.flushall()


def now() -> datetime:
    """Return the time of this machine's clock, which is also the clock of the API's instants."""
    return datetime.now(UTC)  # noqa: TID251 - a producer's clock, not the product's


def until(
    look: Callable[[], Found | None], *, what: str, within: timedelta = timedelta(minutes=2)
) -> Found:
    """Call `look` until the result is true and return the result.

    Raises:
        TooLate: no true result came within the time `within`.
    """
    deadline = time.monotonic() + within.total_seconds()
    while not (found := look()):
        if time.monotonic() > deadline:
            raise TooLate(f"{what}: not within {within.total_seconds():g} s")
        pause()
    return found


def pause(seconds: float = _LOOK_SECONDS) -> None:
    """Wait for a number of seconds."""
    threading.Event().wait(seconds)
