"""Loopback ports for processes of ours."""

from __future__ import annotations

import socket
import zlib
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_FIRST, _COUNT, _TRIES = 20_000, 12_000, 100
"""Below Linux's ephemeral range (32768 up): there, an outgoing connection could take a port while
its server restarts."""


class PortsTaken(OSError):
    """A hundred ports in a row are taken: something else on this machine has to end first."""


def free_port(seed: str) -> int:
    """A port that nobody listens on: the same for the same seed as long as it is free.

    Raises:
        PortsTaken: no port near the seed's place is free.
    """
    offset = zlib.crc32(seed.encode())
    for step in range(_TRIES):
        port = _FIRST + (offset + step) % _COUNT
        if is_free(port):
            return port
    raise PortsTaken(f"no free port on {LOOPBACK} between {_FIRST} and {_FIRST + _COUNT}")


def is_free(port: int) -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket() as probe:
        # As servers do: else connections that are long over would make the port look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
