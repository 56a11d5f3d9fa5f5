"""A provider that takes its time: it answers each HTTP request after a delay of its own.

    python -m tests.benchmarks.slow_sink PORT

It stands behind nginx, which speaks TLS and HTTP/2 for it. `PUT /delay/100/200` has it wait for 100
to 200 ms, evenly spread, from then on; at first it answers at once.
"""

from __future__ import annotations

import asyncio
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from notifyproj.devstack.ports import LOOPBACK, free_port
from tests.benchmarks.sink import PythonSink

_GOLDEN: Final = 0.618034
"""Its multiples are spread evenly over [0, 1)."""


class SlowSink(PythonSink):
    """The provider in a process of its own."""

    def __init__(self, folder: Path) -> None:
        port, log = free_port(f"{folder}/slow"), folder / "slow_sink.log"
        super().__init__("slow sink", log=log, module=__spec__.name, port=port)

    def wait_for(self, least_ms: int, most_ms: int) -> None:
        """Have it wait so long before each answer, from now on."""
        link = HTTPConnection(LOOPBACK, self.port)
        link.request("PUT", f"/delay/{least_ms}/{most_ms}")
        assert link.getresponse().status == 200
        link.close()


class Session(asyncio.Protocol):
    """One connection of nginx's, with one request at a time."""

    least, spread = 0.0, 0.0
    """Seconds, of all sessions."""
    taken = 0

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, _error: Exception | None) -> None:
        """Answer nobody."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Answer the request, later, when it is complete."""
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end])
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self._buffer) < end + 4 + length:
            return
        del self._buffer[: end + 4 + length]
        if head.startswith(b"PUT /delay/"):
            least, most = (int(part) / 1000 for part in head.split(b" ")[1].split(b"/")[2:])
            Session.least, Session.spread = least, most - least
            self._answer(b"")
            return
        Session.taken += 1
        name = b'{"message_id":"%d","name":"%d"}' % (Session.taken, Session.taken)
        delay = Session.least + Session.spread * (_GOLDEN * Session.taken % 1)
        if delay:
            self._loop.call_later(delay, self._answer, name)
        else:
            self._answer(name)

    def _answer(self, body: bytes) -> None:
        if self._transport is not None:
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            )
            self._transport.write(head % len(body) + body)


async def serve(port: int) -> None:
    """Listen until the process ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Session, LOOPBACK, port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
