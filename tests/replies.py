"""The server's side of a request, in the test's own process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from notifications.core.api.replies import REPLY, Reply

Response = tuple[int, list[tuple[str, str]], bytes]
"""Status, headers and body."""


class Told:
    """Calls an application as the web process does, and keeps the first response."""

    def __init__(self) -> None:
        self._response: Response | None = None
        self._has_come = threading.Event()

    def ask(self, application: Any, environ: dict[str, Any]) -> None:  # noqa: ANN401 - any WSGI application
        """Call the application, which answers now or later."""
        heads: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], *_error: object) -> None:
            heads.append((status, headers))

        reply = environ[REPLY] = Reply(self)
        body = b"".join(application(environ, start))
        if not reply.is_later:
            [(status, headers)] = heads
            self.response_bytes(int(status[:3]), headers, body)

    @property
    def has_response(self) -> bool:
        """Return True if the response has come."""
        return self._has_come.is_set()

    def response(self, seconds: float) -> Response:
        """Wait for the response."""
        assert self._has_come.wait(seconds)
        assert self._response is not None
        return self._response

    def response_bytes(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Keep the response."""
        assert self._response is None, "a request has two responses"
        self._response = status, list(headers), body
        self._has_come.set()

    def response_iter(self, status: int, headers: Sequence[tuple[str, str]], body: object) -> None:
        """Refuse a stream: the tests ask for none."""
        raise NotImplementedError
