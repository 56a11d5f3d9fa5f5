"""Slots limit the requests which a process works on at the same time.

    server's thread --> short path ------------------------------> response
                          |
                          v
                        slot (database connection) --> Django --> response
                          |              ^
                          v              |
                        body of the client, and the transaction
                        of a group: waits without a slot

The server starts a thread for every request, up to a maximum. A thread works only with a slot, and
every slot has a database connection. A thread waiting for a client (for a body, or for the client
to read a file) holds no slot, so slow clients hold threads only. `body_readers` limits the number
of these threads. A thread whose request another thread stores in a group (`intake.group_commit`)
holds no slot either. On the short path (`api.short_path`) only the thread that stores a group takes
a slot, and a request holds no thread while it waits (`api.replies`). A view reads the body after
authentication, so a client without a key can hold a thread on the few open paths only. The reverse
proxy limits the time for a body.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Final, cast

from django.http import HttpResponse, StreamingHttpResponse

from notifications.core.api import authentication, body_limits, clients
from notifications.core.api.body_readers import Readers
from notifications.core.api.problems import TooManyReaders
from notifications.core.api.replies import REPLY, Reply
from notifications.core.api.short_path import (
    BODY,
    KEY,
    Django,
    Environ,
    ShortPath,
    StartResponse,
)
from notifications.core.intake import group_commit
from notifications.core.intake.helper_threads import HelperThreads
from notifications.core.store.postgres import api_keys
from notifications.core.store.postgres.slots import FreeSlots, SlotLease, offer

CALLER: Final = authentication.CALLER
_CHUNK: Final = 64 * body_limits.KIBIBYTE
"""Bytes of a stream produced while holding a slot."""


_WITHOUT_SLOT: Final = frozenset({"/healthz", "/startupz"})
"""Paths answered without a slot: probes do not depend on free slots."""
_BUSY: Final = b"too many files are being read; try again"


class BrokenBody(OSError):
    """The client disconnected, or was too slow, before the whole body arrived."""


class _Body:
    """`wsgi.input`: the first read reads the whole body, without a slot.

    A read of a streamed body (`body_limits.Limit.is_streamed`) reads a piece, also without a slot.
    """

    def __init__(self, environ: Environ, lease: SlotLease, readers: Readers) -> None:
        self._environ = environ
        self._source = environ["wsgi.input"]
        self._lease = lease
        self._readers = readers
        self._come: io.BytesIO | None = None
        self._fault: BrokenBody | None = None
        self._left = int(environ.get("CONTENT_LENGTH") or 0)
        self.limit = body_limits.limit_of(environ.get("PATH_INFO", ""))
        self.counted = 0
        """Bytes counted in `readers` for this body."""

    def read(self, size: int = -1) -> bytes:
        """Read like a file."""
        return self._piece(size) if self.limit.is_streamed else self._whole().read(size)

    def readline(self, size: int = -1) -> bytes:
        """Read a line like a file."""
        return self._whole().readline(size)

    def fetch(self, *, caller: str) -> bytes:
        """Wait for the body, keep the body in memory and return the body.

        Raises:
            TooManyReaders: too many threads wait already.
            BrokenBody: the client disconnected.
        """
        length = int(self._environ.get("CONTENT_LENGTH") or 0)
        body = self._receive(length, caller=caller)
        if len(body) < length:
            self._fault = BrokenBody("the body ended before its Content-Length")
            raise self._fault
        self._come = io.BytesIO(body)
        return body

    def forget(self) -> None:
        """Stop counting the bytes of the body, after the response."""
        self._readers.forget(self.counted)

    def _receive(self, size: int, *, caller: str) -> bytes:
        """Read from the client without a slot."""
        held = self._lease.is_held
        # The limits of a caller with a key do not depend on the address.
        address = "" if caller else clients.rate_limit_key(clients.address_of(self._environ))
        since = self._readers.enter(caller=caller, address=address, size=size)
        self.counted += size
        self._lease.give_back()
        try:
            return cast("bytes", self._source.read(size))
        finally:
            self._readers.leave(since, caller=caller, address=address)
            if held:
                self._lease.take()

    def _piece(self, size: int) -> bytes:
        """Read the next bytes of a streamed body.

        Raises:
            BrokenBody: the client disconnected.
        """
        wanted = min(_CHUNK, self._left) if size < 0 else min(size, _CHUNK, self._left)
        if not wanted:
            return b""
        piece = self._receive(wanted, caller=self._environ.get(CALLER, ""))
        self._readers.forget(wanted)
        self.counted -= wanted
        self._left -= len(piece)
        if len(piece) < wanted:
            raise BrokenBody("the body ended before its Content-Length")
        return piece

    def _whole(self) -> io.BytesIO:
        if self._fault is not None:
            raise self._fault
        if self._come is None:
            self.fetch(caller=self._environ.get(CALLER, ""))
        assert self._come is not None  # noqa: S101 - `fetch` keeps it or raises
        return self._come


class Slots:
    """The WSGI application: a handler with at most one request per slot at a time."""

    def __init__(
        self, handler: Django, *, slots: int, threads: int, short_path: ShortPath | None = None
    ) -> None:
        """Create the slots. Connections are opened at first use.

        Args:
            handler: answers a request while holding a slot.
            slots: number of slots.
            threads: maximum number of threads of the server.
            short_path: answers usual requests before the request has a slot.
        """
        self._handler = handler
        self._short_path = short_path
        self._readers = Readers(threads)
        self._streams = threading.BoundedSemaphore(max(1, threads // 4))
        self._free = FreeSlots(slots)
        self._late = HelperThreads(slots, name="late-answer")
        if short_path is not None:
            self._late.start()
            group_commit.helpers.start()

    def __call__(self, environ: Environ, start_response: StartResponse) -> object:
        """Answer a request. A list has the whole body; any other iterable is a stream."""
        lease = SlotLease(self._free)
        if not environ.get("CONTENT_LENGTH"):
            return self._answer(environ, start_response, lease)
        body = environ["wsgi.input"] = _Body(environ, lease, self._readers)
        reply: Reply | None = environ.get(REPLY)
        if reply is not None:
            reply.at_end = body.forget
        try:
            _fetch_early(environ, body)
            if self._answers_shortly(environ, lease):
                return []
            return self._answer(environ, start_response, lease)
        finally:
            if reply is None or not reply.is_later:
                body.forget()

    def close(self) -> None:
        """Close the database connections, after the last request."""
        self._late.shutdown()
        self._free.close()

    def _answers_shortly(self, environ: Environ, lease: SlotLease) -> bool:
        """Return True if the short path answers, now or later."""
        if self._short_path is None:
            return False
        offer(lease)
        try:
            return self._short_path.answer(environ, late=self._submit_late)
        finally:
            offer(None)

    def _submit_late(self, environ: Environ, reply: Reply) -> None:
        self._late.submit(self._answer_late, environ, reply)

    def _answer_late(self, environ: Environ, reply: Reply) -> None:
        """Let the handler answer a request that no thread of the server waits for."""
        status, told = 500, list[tuple[str, str]]()

        def start(line: str, headers: list[tuple[str, str]], *_: object) -> Callable[..., object]:
            nonlocal status, told
            status, told = int(line[:3]), headers
            return told.append

        body = b""
        try:
            body = b"".join(
                cast("list[bytes]", self._answer(environ, start, SlotLease(self._free)))
            )
        finally:
            reply.send(status, told, body)

    def _answer(self, environ: Environ, start_response: StartResponse, lease: SlotLease) -> object:
        if environ.get("PATH_INFO") not in _WITHOUT_SLOT:
            lease.take()
        try:
            answer = self._handler(environ, start_response)
            if self._short_path is not None:
                self._short_path.learn(environ, answer)
            if isinstance(answer, StreamingHttpResponse):
                return self._stream_response(answer, lease, start_response)
            answer.close()
            return [cast("HttpResponse", answer).content]
        finally:
            lease.give_back()

    def _stream_response(
        self, answer: StreamingHttpResponse, lease: SlotLease, start_response: StartResponse
    ) -> object:
        length = answer.headers.get("Content-Length", "")
        if length.isdecimal() and int(length) <= _CHUNK:
            content = b"".join(answer)
            answer.close()
            return [content]
        if self._streams.acquire(blocking=False):
            return _Stream(answer, lease, self._streams)
        answer.close()
        start_response("503 Service Unavailable", [("Retry-After", "5")])
        return [_BUSY]


def _fetch_early(environ: Environ, body: _Body) -> None:
    """Read the body of a caller with a cached key before taking a slot, which avoids a slot change.

    Errors are ignored here: the view reads the body again and reports the error.
    """
    scheme, _, secret = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme != "Bearer" or "HTTP_TRANSFER_ENCODING" in environ:
        return
    key = api_keys.verified(secret)
    if key is None or body.limit.is_streamed:
        return
    found = body_limits.fault(
        body.limit,
        length=environ.get("CONTENT_LENGTH", ""),
        media_type=environ.get("CONTENT_TYPE", ""),
        chunked=False,
    )
    if found is not None:
        return
    try:
        environ[BODY] = body.fetch(caller=key.prefix)
    except (TooManyReaders, BrokenBody):
        return
    environ[KEY] = key


class _Stream:
    """A long response: a slot is held while a chunk is produced, not while the client reads."""

    def __init__(
        self, answer: StreamingHttpResponse, lease: SlotLease, streams: threading.BoundedSemaphore
    ) -> None:
        self._answer = answer
        self._streams = streams
        self._pieces: Iterator[bytes] = iter(answer)
        self._lease = lease

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        self._lease.take()
        try:
            return self._piece()
        finally:
            self._lease.give_back()

    def close(self) -> None:
        """End the response."""
        try:
            self._lease.take()
            self._answer.close()
        finally:
            self._lease.give_back()
            self._streams.release()

    def _piece(self) -> bytes:
        made, size = [], 0
        for part in self._pieces:
            made.append(part)
            size += len(part)
            if size >= _CHUNK:
                break
        if not made:
            raise StopIteration
        return b"".join(made)
