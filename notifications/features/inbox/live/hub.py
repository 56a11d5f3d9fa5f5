"""The hub: the connected recipients, and rounds that read the changes of many recipients at once.

A recipient is *due* when a stream of the recipient may lack changes. A round takes the due
recipients of the last milliseconds, reads once for each recipient in a thread, and sends the same
bytes to all streams with the same inbox version. Streams of a recipient with different versions
are read in successive rounds.

The events do not depend on announcements. A stream knows the version of the client, and four
occasions make a recipient with a stream behind due: an announcement, the confirmation of a
subscription, the end of an event in flight, and the comparison with the versions in Postgres. A
failed read leaves the recipients due.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import structlog
from django.db import Error

from notifications.core import clock
from notifications.core.conf import Live
from notifications.features.inbox.live import figures, frames, reads
from notifications.features.inbox.live.frames import Goodbye, TokenEnd
from notifications.features.inbox.live.reads import NEWEST, Answer
from notifications.features.inbox.live.stream import Stream

COLLECT_SECONDS: Final = 0.01
"""Time in which further recipients join a round."""
MOST_OF_ROUND: Final = 500
"""Recipients of one statement."""
_VERSIONS_OF_STATEMENT: Final = 5_000
_AGAIN_SECONDS: Final = 1.0
"""Pause after a failed read."""
_RETRY_FLOOR_MS: Final = 1_000
_RETRY_SPREAD_MS: Final = 4_000
_RETRY_MS_OF_STREAM: Final = 2
"""Milliseconds for each stream over which clients return: twenty seconds for 10,000 clients."""

Given = TypeVar("Given")
Found = TypeVar("Found")
_log = structlog.get_logger(__name__)


class Listener:
    """A recipient with streams."""

    __slots__ = ("heard", "heard_at", "is_subscribed", "streams")

    def __init__(self) -> None:
        self.streams: list[Stream] = []
        """Oldest first."""
        self.heard = 0
        """The newest inbox version of an announcement or a read."""
        self.heard_at: float | None = None
        """Loop time of the first announcement since the last read; None: no announcement."""
        self.is_subscribed = False


class Hub:
    """All streams of the process. Every method runs in the event loop."""

    def __init__(
        self, limits: Live, *, follow: Callable[[int], bool], leave: Callable[[int], None]
    ) -> None:
        """Create an empty hub.

        Args:
            limits: limits of the process.
            follow: subscribes to a recipient; True: reads need not wait for the confirmation.
            leave: ends the subscription.
        """
        self.limits = limits
        self.listeners: dict[int, Listener] = {}
        self.count = 0
        """All streams, with the ending ones."""
        self.is_stopping = False
        self.is_database_away = False
        self._follow = follow
        self._leave = leave
        self._due: dict[int, None] = {}
        self._wake = asyncio.Event()
        # One thread: rounds follow each other, and Django has a connection for each thread.
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="live-reads")

    def streams(self) -> Iterator[Stream]:
        """Yield every stream."""
        for listener in list(self.listeners.values()):
            yield from list(listener.streams)

    # Streams

    def add(self, stream: Stream) -> None:
        """Add a stream; ends the oldest stream of a recipient with too many."""
        listener = self.listeners.setdefault(stream.recipient_id, Listener())
        open_ = [each for each in listener.streams if not each.is_ending]
        for oldest in open_[: max(0, len(open_) + 1 - self.limits.connections_per_recipient)]:
            oldest.end(frames.goodbye(Goodbye.TOO_MANY_CONNECTIONS, retry=self.retry_ms()))
            figures.ENDED.labels(Goodbye.TOO_MANY_CONNECTIONS).inc()
        stream.heartbeat_at = self._next_heartbeat()
        listener.streams.append(stream)
        self.count += 1
        if not listener.is_subscribed:
            listener.is_subscribed = self._follow(stream.recipient_id)
        if listener.is_subscribed:
            self._make_due(stream.recipient_id)
        if self.is_stopping:  # the token was checked while the other streams ended
            stream.end(frames.goodbye(Goodbye.RESTART, retry=self.retry_ms()))

    def remove(self, stream: Stream) -> None:
        """Remove a stream after the end of the connection."""
        listener = self.listeners[stream.recipient_id]
        listener.streams.remove(stream)
        self.count -= 1
        if not listener.streams:
            del self.listeners[stream.recipient_id]
            self._due.pop(stream.recipient_id, None)
            self._leave(stream.recipient_id)

    def end_tokens(self, streams: Iterable[Stream], reason: TokenEnd) -> None:
        """End streams with expired or revoked tokens."""
        for stream in streams:
            if not stream.is_ending:
                stream.end(frames.token_expired(reason))
                figures.ENDED.labels(f"token_{reason}").inc()

    def stop(self) -> None:
        """End every stream with a goodbye; the clients return spread over time."""
        self.is_stopping = True
        for stream in self.streams():
            if not stream.is_ending:
                stream.end(frames.goodbye(Goodbye.RESTART, retry=self.retry_ms()))
                figures.ENDED.labels(Goodbye.RESTART).inc()

    def retry_ms(self) -> int:
        """Return a random time, in milliseconds, after which a client connects again."""
        spread = max(_RETRY_SPREAD_MS, self.count * _RETRY_MS_OF_STREAM)
        return _RETRY_FLOOR_MS + int(spread * clock.jitter())

    # Signs of changes

    def hear(self, recipient_id: int, version: int) -> None:
        """Note the inbox version of an announcement."""
        listener = self.listeners.get(recipient_id)
        if listener is None or version <= listener.heard:
            return
        listener.heard = version
        if listener.heard_at is None:
            listener.heard_at = asyncio.get_running_loop().time()
        self._make_due_if_behind(recipient_id, listener)

    def confirm(self, recipient_id: int) -> None:
        """Read a recipient after the subscription began, so that no earlier commit is missed."""
        listener = self.listeners.get(recipient_id)
        if listener is not None:
            listener.is_subscribed = True
            self._make_due(recipient_id)

    def lose_subscriptions(self) -> None:
        """Read the recipients that wait for a subscription; comparisons find later changes."""
        for recipient_id, listener in self.listeners.items():
            if not listener.is_subscribed:
                listener.is_subscribed = True
                self._make_due(recipient_id)

    async def compare(self) -> None:
        """Compare the streams with Postgres and make recipients with another version due.

        A version below the version of a stream is a change too: the database was restored.

        Raises:
            django.db.Error: Postgres is away.
        """
        before = {stream: stream.version for stream in self.streams() if stream.is_greeted}
        ids = list({stream.recipient_id for stream in before})
        for start in range(0, len(ids), _VERSIONS_OF_STATEMENT):
            part = ids[start : start + _VERSIONS_OF_STATEMENT]
            versions = await self._read(reads.versions, part)
            for recipient_id in part:
                self._compare_one(recipient_id, versions.get(recipient_id, 0), before)

    def _compare_one(
        self, recipient_id: int, version: int, before: Mapping[Stream, int | None]
    ) -> None:
        listener = self.listeners.get(recipient_id)
        if listener is None:
            return
        listener.heard = max(listener.heard, version)
        for stream in listener.streams:
            # A stream that moved since the question may have a version newer than the answer.
            if stream.version == before.get(stream, version) != version:
                self._make_due(recipient_id)

    # Rounds

    async def run(self) -> None:
        """Serve rounds until the task is cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(COLLECT_SECONDS)
            while self._due:
                await self._serve_round()

    async def _serve_round(self) -> None:
        await self._serve(self._next_round())

    async def _serve(self, wanted: Mapping[int, int]) -> None:
        try:
            await self._answer(wanted)
        except Error as error:
            self.note_database(error)
            for recipient_id in wanted:
                self._make_due(recipient_id)
            await asyncio.sleep(_AGAIN_SECONDS)
        except Exception as error:  # noqa: BLE001 - a defect in a round must not end all rounds
            await self._serve_one_by_one(wanted, error)

    async def _answer(self, wanted: Mapping[int, int]) -> None:
        heard = {each: self.listeners[each].heard for each in wanted if each in self.listeners}
        answers = await self._read(reads.answers, {each: wanted[each] for each in heard})
        self.note_database(None)
        for recipient_id, answer in answers.items():
            self._send(recipient_id, wanted[recipient_id], answer, heard[recipient_id])

    async def _serve_one_by_one(self, wanted: Mapping[int, int], error: Exception) -> None:
        """After a defect: answer the other recipients, and end the streams of the defective one."""
        if len(wanted) > 1:
            for recipient_id, version in wanted.items():
                await self._serve({recipient_id: version})
            return
        _log.error("live_round_failed", exc_info=error)
        for recipient_id in wanted:
            listener = self.listeners.get(recipient_id)
            for stream in listener.streams if listener is not None else ():
                if not stream.is_ending:
                    stream.end(frames.goodbye(Goodbye.FAILED, retry=self.retry_ms()))
                    figures.ENDED.labels(Goodbye.FAILED).inc()

    def _next_round(self) -> dict[int, int]:
        """Take due recipients; returns the version to read from, by recipient."""
        wanted: dict[int, int] = {}
        for recipient_id in list(self._due)[:MOST_OF_ROUND]:
            del self._due[recipient_id]
            versions = self._versions_to_read(self.listeners[recipient_id])
            if versions:
                wanted[recipient_id] = min(versions)
            if len(versions) > 1:
                self._make_due(recipient_id)
        return wanted

    def _versions_to_read(self, listener: Listener) -> set[int]:
        """Return the versions of the streams behind; without such a stream, of all streams."""
        ready = [each for each in listener.streams if each.is_ready]
        behind = [each for each in ready if not each.is_greeted or each.version != listener.heard]
        return {NEWEST if each.version is None else each.version for each in behind or ready}

    def _send(self, recipient_id: int, since: int, answer: Answer, heard: int) -> None:
        listener = self.listeners.get(recipient_id)
        if listener is None:
            return
        if listener.heard == heard:
            listener.heard = answer.version
        heard_at, listener.heard_at = listener.heard_at, None
        event = answer.event
        for stream in listener.streams:
            version = NEWEST if stream.version is None else stream.version
            if version != since or not stream.is_ready:
                continue
            text = event if stream.is_greeted else self._hello(answer) + event
            stream.is_greeted = True
            stream.version = answer.version
            if text:
                stream.heard_at = heard_at
                stream.start_sending(text, then=self._continue)
            if event:
                figures.EVENTS.inc()
        self._make_due_if_behind(recipient_id, listener)

    def _hello(self, answer: Answer) -> bytes:
        return frames.hello(
            answer.version,
            answer.counts,
            heartbeat_seconds=self.limits.heartbeat_seconds,
            retry=self.retry_ms(),
        )

    def _continue(self, stream: Stream) -> None:
        """Read on for a stream that fell behind while an event was in flight."""
        if stream.heard_at is not None:
            figures.LAG_SECONDS.observe(asyncio.get_running_loop().time() - stream.heard_at)
            stream.heard_at = None
        listener = self.listeners.get(stream.recipient_id)
        if listener is not None:
            self._make_due_if_behind(stream.recipient_id, listener)

    # Heartbeats and limits of time

    def beat(self, *, late: float) -> None:
        """Send due heartbeats, and end streams with slow clients or expired tokens.

        Args:
            late: seconds in which the process did not run, so that no client can be blamed.
        """
        loop_time, now = asyncio.get_running_loop().time(), clock.now()
        expired: list[Stream] = []
        for stream in self.streams():
            if stream.sending_since is not None:
                stream.sending_since += late
                if loop_time - stream.sending_since > self.limits.send_seconds:
                    stream.drop()
                    figures.ENDED.labels("slow_reader").inc()
            elif now >= stream.token.expires_at:
                expired.append(stream)
            elif loop_time >= stream.heartbeat_at and stream.is_ready:
                stream.heartbeat_at = self._next_heartbeat()
                stream.start_sending(frames.HEARTBEAT, then=self._continue)
        self.end_tokens(expired, TokenEnd.EXPIRED)

    def _next_heartbeat(self) -> float:
        seconds = self.limits.heartbeat_seconds
        return asyncio.get_running_loop().time() + seconds * (0.75 + 0.25 * clock.jitter())

    # Parts

    def _make_due(self, recipient_id: int) -> None:
        if recipient_id in self.listeners:  # the last stream may end during a read that fails
            self._due[recipient_id] = None
            self._wake.set()

    def _make_due_if_behind(self, recipient_id: int, listener: Listener) -> None:
        for stream in listener.streams:
            is_behind = stream.version is None or stream.version < listener.heard
            if stream.is_ready and (is_behind or not stream.is_greeted):
                self._make_due(recipient_id)
                return

    async def _read(self, read: Callable[[Given], Found], given: Given) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._reader, read, given)

    def note_database(self, error: Error | None) -> None:
        """Note the result of a read; logs the begin and the end of an outage."""
        if error is not None and not self.is_database_away:
            _log.warning("live_database_away", cause=str(error.__cause__ or error)[:200])
        elif error is None and self.is_database_away:
            _log.info("live_database_back")
        self.is_database_away = error is not None
