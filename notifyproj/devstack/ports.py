"""Free loopback ports for the processes of the stack."""

from __future__ import annotations

import socket
import zlib
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_FIRST, _COUNT, _TRIES = 20_000, 12_000, 100
"""Ports below Linux's ephemeral range (32768 up), where an outgoing connection could take the port
of a restarting server."""


class PortsTaken(OSError):
    """A hundred ports in a row are taken by other processes of this machine."""


def free_port(seed: str) -> int:
    """Return a free port, which is the same for the same seed as long as the port is free.

    Raises:
        PortsTaken: the hundred ports that begin at the seed's port are taken.
    """
    offset = zlib.crc32(seed.encode())
    for step in range(_TRIES):
        port = _FIRST + (offset + step) % _COUNT
        if is_free(port):
            return port
    raise PortsTaken(f"no free port on {LOOPBACK} between {_FIRST} and {_FIRST + _COUNT}")


def is_free(port: int) -> bool:
    """Return True if a server could listen on the port now."""
    with socket.socket() as probe:
        # Servers set the option too: without it, closed connections would keep the port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
