"""A mail server that takes everything and keeps nothing.

    python -m tests.benchmarks.smtp_sink PORT MILLISECONDS

It reads each command and each content to its end and answers at once, so what is measured is the
client; a content it answers after so many milliseconds. HELP tells how many mails it took.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from typing import Final

from notifyproj.devstack.ports import LOOPBACK, free_port
from tests.benchmarks.sink import PythonSink

_END: Final = b"\r\n.\r\n"


class SmtpSink(PythonSink):
    """The sink in a process of its own."""

    def __init__(self, folder: Path, *, port: int | None = None, milliseconds: int = 0) -> None:
        super().__init__(
            "SMTP sink",
            log=folder / "smtp_sink.log",
            module=__spec__.name,
            port=port or free_port(str(folder)),
            arguments=str(milliseconds),
        )

    def taken(self) -> int:
        """How many mails it has taken."""
        with socket.create_connection((LOOPBACK, self.port)) as link, link.makefile("rwb") as lines:
            lines.readline()
            lines.write(b"HELP\r\n")
            lines.flush()
            return int(lines.readline().split()[1])


class Session(asyncio.Protocol):
    """One client."""

    taken = 0
    """By all sessions together."""
    seconds = 0.0
    """Before the answer to a content, of all sessions."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._in_content = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(b"220 sink ESMTP\r\n")

    def data_received(self, data: bytes) -> None:
        """Answer every command and every content that is complete."""
        self._buffer += data
        while self._step():
            pass

    def _step(self) -> bool:
        end = self._buffer.find(_END if self._in_content else b"\r\n")
        if end < 0 or self._transport is None:
            return False
        verb = bytes(self._buffer[:4]).upper()
        del self._buffer[: end + (len(_END) if self._in_content else 2)]
        if self._in_content:
            Session.taken += 1
            asyncio.get_running_loop().call_later(
                Session.seconds, self._transport.write, b"250 taken\r\n"
            )
        elif verb == b"DATA":
            self._transport.write(b"354 go ahead\r\n")
        elif verb == b"HELP":
            self._transport.write(b"214 %d\r\n" % Session.taken)
        elif verb == b"EHLO":
            self._transport.write(b"250-sink\r\n250 PIPELINING\r\n")
        elif verb == b"QUIT":
            self._transport.write(b"221 bye\r\n")
            self._transport.close()
        else:
            self._transport.write(b"250 ok\r\n")
        self._in_content = not self._in_content and verb == b"DATA"
        return True


async def serve(port: int, *, milliseconds: int) -> None:
    """Listen until the process ends."""
    Session.seconds = milliseconds / 1000
    server = await asyncio.get_running_loop().create_server(Session, LOOPBACK, port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), milliseconds=int(sys.argv[2])))
