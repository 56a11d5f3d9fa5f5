"""A proxy that ends TLS in front of a server of the tests, as a managed Valkey has it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Final, Self, TypeVar

from notifyproj.devstack.ports import LOOPBACK

_PART: Final = 65_536
Result = TypeVar("Result")


class TlsProxy:
    """Listens on a free port of the loopback interface and forwards to a port without TLS."""

    def __init__(self, target: int, context: ssl.SSLContext) -> None:
        """Present the certificate of `context`; `target`: the port of the server."""
        self._target = target
        self._context = context
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.handshakes = 0
        """Connections whose client has accepted the certificate."""

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._in_loop(self._listen())
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._in_loop(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _in_loop(self, work: Coroutine[object, object, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, LOOPBACK, 0, ssl=self._context)

    async def _end(self) -> None:
        self._server.close()
        for writer in self._open:
            if not writer.is_closing():  # CPython 3.11.2 cannot abort a connection that has ended
                writer.transport.abort()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes += 1
        from_server, to_server = await asyncio.open_connection(LOOPBACK, self._target)
        self._open |= {writer, to_server}
        await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await source.read(_PART):
            sink.write(part)
            await sink.drain()
    sink.close()
    with contextlib.suppress(OSError):
        await sink.wait_closed()
