"""A proxy that ends TLS in front of a server of the tests, as a managed Valkey has it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Final, Self

from notifyproj.devstack.ports import LOOPBACK
from tests.providers.fakes import Listener

_PART: Final = 65_536


class TlsProxy:
    """Listens on a free port of the loopback interface and forwards to a port without TLS."""

    def __init__(self, target: int, context: ssl.SSLContext) -> None:
        """Present the certificate of `context`; `target`: the port of the server."""
        self._target = target
        self._context = context
        self.handshakes = 0
        """Connections whose client has accepted the certificate."""

    def __enter__(self) -> Self:
        self._listener = Listener(self._connection, tls=self._context)
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.close()

    @property
    def port(self) -> int:
        """The port that clients connect to."""
        return self._listener.port

    def _connection(self) -> asyncio.Protocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(), self._serve)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes += 1
        from_server, to_server = await asyncio.open_connection(LOOPBACK, self._target)
        try:
            await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))
        finally:
            to_server.transport.abort()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await source.read(_PART):
            sink.write(part)
            await sink.drain()
    sink.close()
    with contextlib.suppress(OSError):
        await sink.wait_closed()
