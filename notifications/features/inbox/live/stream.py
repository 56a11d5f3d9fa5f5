"""A stream: the connection of a client, with one event in flight and no queue.

A client that reads slowly is at an older inbox version than the other streams of the recipient.
After the event in flight the hub reads the changes since the older version, so a slow client costs
the memory of an event. A client that does not take an event within
`Live.send_seconds` is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from notifications.core.rules.recipient_tokens import RecipientToken

Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Stream:
    """A connection of a recipient."""

    __slots__ = (
        *("token", "version", "is_greeted", "is_ending", "heartbeat_at", "sending_since"),
        *("heard_at", "_send", "_abort", "_task"),
    )

    def __init__(
        self, send: Send, abort: Callable[[], None], *, token: RecipientToken, version: int | None
    ) -> None:
        """Store the parts of a connection.

        Args:
            send: `send` of the ASGI server; waits while the client does not read.
            abort: ends the connection at once.
            token: the token of the request.
            version: the inbox version that the client has; None: the client has no page.
        """
        self.token = token
        self.version = version
        self.is_greeted = False
        """True after the event `hello`."""
        self.is_ending = False
        self.heartbeat_at = 0.0
        """Loop time of the next heartbeat."""
        self.sending_since: float | None = None
        """Loop time at which the event in flight began; None: no event is in flight."""
        self.heard_at: float | None = None
        """Loop time of the announcement before the event in flight; None: no announcement."""
        self._send = send
        self._abort = abort
        self._task: asyncio.Task[None] | None = None

    @property
    def recipient_id(self) -> int:
        """The recipient."""
        return self.token.recipient_id

    @property
    def is_ready(self) -> bool:
        """Return True if the stream can take an event."""
        return self.sending_since is None and not self.is_ending

    def start_sending(self, text: bytes, *, then: Callable[[Stream], None]) -> None:
        """Send an event and call `then` once the client or its buffer has the bytes.

        Only for a stream that is ready.
        """
        loop = asyncio.get_running_loop()
        self.sending_since = loop.time()
        self._task = loop.create_task(self._send_event(text, then))

    def end(self, text: bytes) -> None:
        """Send the last event, after the event in flight, and complete the response."""
        if self.is_ending:
            return
        self.is_ending = True
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._send_last(text, self._task))

    def drop(self) -> None:
        """End the connection at once; the bytes that the client did not read are lost."""
        self.is_ending = True
        self._abort()

    async def _send_event(self, text: bytes, then: Callable[[Stream], None]) -> None:
        await self._send({"type": "http.response.body", "body": text, "more_body": True})
        self.sending_since = self._task = None
        then(self)

    async def _send_last(self, text: bytes, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        self.sending_since = asyncio.get_running_loop().time()
        await self._send({"type": "http.response.body", "body": text, "more_body": False})
