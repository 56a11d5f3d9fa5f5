"""A client of the stream, as a browser is: one thread that reads events."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")
PATIENCE_SECONDS: Final = 30.0
"""Nothing is asserted about the time; a test that waits for longer fails."""


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: dict[str, Any]
    id: str


class StreamRefused(Exception):
    """The process answered with a problem."""

    def __init__(self, status: int, headers: dict[str, str], body: dict[str, Any]) -> None:
        super().__init__(f"{status} {body}")
        self.status, self.headers, self.body = status, headers, body


class StreamClient:
    """A stream; `inbox` is what the client would show: the version of each item by message id."""

    def __init__(
        self,
        port: int,
        token: str,
        *,
        since: int | None = None,
        user_id: str = "me",
        headers: dict[str, str] | None = None,
    ) -> None:
        self._changed = threading.Condition()
        self.events: list[Event] = []
        self.heartbeats = 0
        self.retry = 0
        self.is_closed = False
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        if since is not None:
            sent["Last-Event-ID"] = str(since)
        self._connection.request("GET", f"/v1/inbox/{user_id}/stream", headers=sent)
        self._socket = self._connection.sock
        self._answer = self._connection.getresponse()
        self.headers = {name.lower(): value for name, value in self._answer.getheaders()}
        if self._answer.status != 200:
            body = self._answer.read()
            self._connection.close()
            raise StreamRefused(self._answer.status, self.headers, json.loads(body))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave, as a closed tab does."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE_SECONDS)
        self._answer.close()  # holds the socket, which `getresponse` takes from the connection
        self._connection.close()

    def until(self, found: Callable[[], T | None], what: str) -> T:
        """Wait for a true result; asked again after each line of the stream."""
        result: T | None = None

        def look() -> bool:
            nonlocal result
            result = found()
            return bool(result)

        with self._changed:
            assert self._changed.wait_for(look, PATIENCE_SECONDS), f"{what}: {self.events}"
        assert result is not None
        return result

    def wait_for(self, name: str, *, after: int = 0) -> Event:
        """Return the first event of a name from the place `after` on."""

        def first() -> Event | None:
            return next((each for each in self.events[after:] if each.name == name), None)

        return self.until(first, name)

    def wait_for_event(self, place: int) -> None:
        """Wait until there is an event at this place, or the end."""
        self.until(lambda: len(self.events) > place or self.is_closed, "an event")

    def wait_for_version(self, version: int) -> None:
        """Wait until the client has this version."""
        self.until(lambda: self.version >= version or None, f"version {version}")

    def wait_for_end(self) -> None:
        """Wait until the server has closed the stream."""
        self.until(lambda: self.is_closed or None, "the end")

    @property
    def version(self) -> int:
        """The newest version that the client was told."""
        return max(
            (each.data["version"] for each in self.events if "version" in each.data), default=0
        )

    def names(self) -> list[str]:
        """The names of all events."""
        return [each.name for each in self.events]

    def _read(self) -> None:
        fields: dict[str, str] = {}
        # http.client raises the last two when the socket is closed below it.
        broken = (OSError, http.client.HTTPException, ValueError, AttributeError)
        with contextlib.suppress(*broken):
            for raw in self._answer:
                line = raw.decode().rstrip("\n")
                with self._changed:
                    self._take(line, fields)
                    self._changed.notify_all()
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def _take(self, line: str, fields: dict[str, str]) -> None:
        if not line:
            if "event" in fields:
                data = json.loads(fields["data"])
                self.events.append(Event(fields["event"], data, fields.get("id", "")))
            fields.clear()
        elif line.startswith(":"):
            self.heartbeats += 1
        else:
            name, _, value = line.partition(": ")
            fields[name] = value
            if name == "retry":
                self.retry = int(value)
