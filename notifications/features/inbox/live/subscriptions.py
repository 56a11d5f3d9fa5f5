"""Announcements of new inbox versions: a connection to the state instance, a channel a recipient.

A process subscribes to the channels of the connected recipients only, so a commit for a recipient
without a stream costs no process anything. An announcement is the inbox version as text.

While the state instance is away, or does not answer for some seconds, `is_connected` is False and
the process compares versions with Postgres instead. After the return every channel is subscribed
again, and each confirmation makes the hub read the recipient: announcements of the meantime are
lost and not needed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Final

import structlog
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import RedisError

from notifications.core import clock
from notifications.features.inbox.rows.cache import channel

_PING_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 6.0
"""A connection without an answer to a ping for this time is dead."""
_CONNECT_SECONDS: Final = 2.0
_AGAIN_SECONDS: Final = 0.5
_CHANNELS_OF_COMMAND: Final = 1_000

_log = structlog.get_logger(__name__)


class Subscriptions:
    """The channels of the connected recipients."""

    def __init__(
        self,
        url: str,
        *,
        hear: Callable[[int, int], None],
        confirm: Callable[[int], None],
        lose: Callable[[], None],
    ) -> None:
        """Create the subscriptions without a connection.

        Args:
            url: URL of the state instance.
            hear: gets the recipient and the inbox version of each announcement.
            confirm: gets each recipient after the begin of the subscription.
            lose: called when the connection has ended.
        """
        self.is_connected = False
        self._hear, self._confirm, self._lose = hear, confirm, lose
        self._wanted: set[int] = set()
        self._subscribed: set[int] = set()
        """Recipients with a SUBSCRIBE on the present connection."""
        self._touched: dict[int, None] = {}
        """Recipients with a subscription to begin or to end."""
        self._wake = asyncio.Event()
        self._pool = ConnectionPool.from_url(
            url,
            protocol=2,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=_SILENT_SECONDS,
            socket_keepalive=True,
        )

    def follow(self, recipient_id: int) -> bool:
        """Subscribe to a recipient; returns True if no confirmation will come for now.

        No confirmation comes for a recipient back before the end of the subscription.
        """
        self._wanted.add(recipient_id)
        self._touch(recipient_id)
        return not self.is_connected or recipient_id in self._subscribed

    def leave(self, recipient_id: int) -> None:
        """End the subscription of a recipient."""
        self._wanted.discard(recipient_id)
        self._touch(recipient_id)

    async def run(self) -> None:
        """Keep a connection until the task is cancelled."""
        while True:
            try:
                await self._hold_connection()
            except* (RedisError, OSError, TimeoutError, AttributeError) as errors:
                # AttributeError: redis-py writes while the reader closes the connection.
                self._note_loss(errors.exceptions[0])
            await asyncio.sleep(_AGAIN_SECONDS * (0.5 + clock.jitter()))

    async def _hold_connection(self) -> None:
        """Connect, subscribe to all wanted channels, and read until the connection breaks."""
        connection: AbstractConnection = self._pool.make_connection()  # type: ignore[no-untyped-call]  # untyped
        try:
            await connection.connect()  # type: ignore[no-untyped-call]  # untyped
            self._subscribed.clear()
            self._touched = dict.fromkeys(self._wanted)
            self.is_connected = True
            self._wake.set()
            _log.info("live_subscriptions_begin", recipients=len(self._wanted))
            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(self._read(connection))
                tasks.create_task(self._write(connection, reading))
        finally:
            await connection.disconnect(nowait=True)

    async def _write(self, connection: AbstractConnection, reading: asyncio.Task[None]) -> None:
        """Send commands until the end of the reads.

        `asyncio.wait_for`, which redis-py calls, may lose a cancellation (Python 3.11), and a
        further command would connect again without a reader.
        """
        while not reading.done():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PING_SECONDS):
                    await self._wake.wait()
            self._wake.clear()
            commands = list(self._commands()) or [("PING",)]
            for command in commands:
                if reading.done():
                    return
                await connection.send_command(*command, check_health=False)

    def _commands(self) -> Iterator[tuple[str, ...]]:
        """Yield the commands from the present to the wanted subscriptions."""
        touched, self._touched = self._touched, {}
        begin = [each for each in touched if each in self._wanted and each not in self._subscribed]
        end = [each for each in touched if each in self._subscribed and each not in self._wanted]
        self._subscribed.update(begin)
        self._subscribed.difference_update(end)
        for name, ids in (("UNSUBSCRIBE", end), ("SUBSCRIBE", begin)):
            for start in range(0, len(ids), _CHANNELS_OF_COMMAND):
                part = ids[start : start + _CHANNELS_OF_COMMAND]
                yield (name, *(channel(each) for each in part))

    async def _read(self, connection: AbstractConnection) -> None:
        while True:
            kind, name, *rest = await connection.read_response()
            if kind not in {b"message", b"subscribe"}:
                continue
            recipient_id = int(name.rpartition(b":")[2])
            version = int(rest[0]) if kind == b"message" else 0
            if version:
                self._hear(recipient_id, version)
            else:  # the subscription has begun, or the inbox was erased
                self._confirm(recipient_id)

    def _note_loss(self, error: BaseException) -> None:
        if self.is_connected:
            _log.warning("live_subscriptions_lost", cause=type(error).__name__)
        self.is_connected = False
        self._lose()

    def _touch(self, recipient_id: int) -> None:
        self._touched[recipient_id] = None
        self._wake.set()
