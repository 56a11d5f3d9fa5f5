"""Clients that hold connections and ask for nothing: thousands of them, from many addresses.

    heads    a request's head that does not end
    bodies   a body that does not come, to a path that needs no key
    readers  an answer that is asked for and not read

Everything stays on the loopback network; each client connects from one of its addresses.
"""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from notifyproj.devstack.ports import LOOPBACK

ADDRESSES: Final = 20
_SMALL_BUFFER: Final = 4_096
"""Bytes that the kernel takes for a reader that does not read."""
_SPARE: Final = 512
"""Descriptors beside those of the clients."""

HEAD: Final = b"POST /v1/notifications HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY: Final = (
    b"POST /v1/receipts/sandbox HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"webhook-id: a\r\nwebhook-timestamp: 1\r\nwebhook-signature: v1,x\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
READER: Final = (
    b"GET /static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js HTTP/1.1\r\n"
    b"Host: 127.0.0.1\r\n\r\n"
)
KINDS: Final = (HEAD, BODY, READER)


@contextmanager
def slow_clients(port: int, count: int, *, kinds: Sequence[bytes] = KINDS) -> Iterator[None]:
    """Hold so many connections during the block."""
    _allow_descriptors(count + _SPARE)
    clients: list[socket.socket] = []
    try:
        clients.extend(_connected(port, number) for number in range(count))
        for number, client in enumerate(clients):
            client.sendall(kinds[number % len(kinds)])
        yield
    finally:
        for client in clients:
            client.close()


def _connected(port: int, number: int) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
    client.bind((f"127.0.1.{1 + number % ADDRESSES}", 0))
    client.settimeout(30)
    client.connect((LOOPBACK, port))
    return client


def held(port: int) -> int:
    """How many connections the server holds, slow or not.

    The kernel may go on to offer an unread answer after the server has closed the connection, so a
    client cannot tell.
    """
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    found = (line.split()[1:4] for line in lines)
    return sum(
        int(local.partition(":")[2], 16) == port and state == _ESTABLISHED
        for local, _, state in found
    )


_ESTABLISHED: Final = "01"


def _allow_descriptors(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
