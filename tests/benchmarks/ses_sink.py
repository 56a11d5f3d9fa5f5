"""SES as a sink: it answers each bulk call with an entry for each mail of the call.

    python -m tests.benchmarks.ses_sink PORT

It reads head and body of a request and counts the destinations; nginx cannot count.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import sys
from pathlib import Path
from typing import Final

from notifyproj.devstack.ports import LOOPBACK
from tests.benchmarks.sink import PythonSink

_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_DESTINATION: Final = b'"Destination":'
_END: Final = b"\r\n\r\n"


class SesSink(PythonSink):
    """The sink in a process of its own."""

    def __init__(self, folder: Path, *, port: int) -> None:
        log = folder / "ses_sink.log"
        super().__init__("SES sink", log=log, module=__spec__.name, port=port)


class Connection(asyncio.Protocol):
    """One client's connection."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answers."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is complete."""
        self._buffer += data
        while self._answered():
            pass

    def _answered(self) -> bool:
        end = self._buffer.find(_END)
        if end < 0 or self._transport is None:
            return False
        head = bytes(self._buffer[:end])
        found = _LENGTH.search(head)
        whole = end + len(_END) + (int(found[1]) if found else 0)
        if len(self._buffer) < whole:
            return False
        mails = self._buffer.count(_DESTINATION, end, whole)
        del self._buffer[:whole]
        told = self._body(mails, is_bulk=b"/outbound-bulk-emails" in head)
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
            % (len(told), told)
        )
        return True

    def _body(self, mails: int, *, is_bulk: bool) -> bytes:
        if not is_bulk:
            return b'{"MessageId":"%d"}' % next(self._numbers)
        entries = [
            b'{"Status":"SUCCESS","MessageId":"%d"}' % next(self._numbers) for _ in range(mails)
        ]
        return b'{"BulkEmailEntryResults":[%s]}' % b",".join(entries)


async def serve(port: int) -> None:
    """Listen until the process ends."""
    server = await asyncio.get_running_loop().create_server(Connection, LOOPBACK, port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
