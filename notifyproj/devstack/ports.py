"""Free loopback ports for the processes of the stack."""

from __future__ import annotations

import socket
import sys
import zlib
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_FIRST, _COUNT, _TRIES = 20_000, 12_000, 100
"""Ports below Linux's ephemeral range (32768 up), where an outgoing connection could take the port
of a restarting server."""


_reserved: Final[dict[int, str]] = {}
"""The seeds of the ports that this process has reserved, by port."""


class PortsTaken(OSError):
    """A hundred ports in a row are taken by other processes of this machine."""


def free_port(seed: str) -> int:
    """Reserve a free port, which is the same for the same seed as long as the port is free.

    The reservation ends with this process. Until then no call for another seed, here or in another
    process of this machine, returns the port: two servers that start at the same time have two.

    Raises:
        PortsTaken: the hundred ports that begin at the seed's port are taken.
    """
    offset = zlib.crc32(seed.encode())
    for step in range(_TRIES):
        port = _FIRST + (offset + step) % _COUNT
        if is_free(port) and _reserve(port, seed=seed):
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


def _reserve(port: int, *, seed: str) -> bool:
    """Reserve the port by a Unix socket with its number, which the kernel removes at the end.

    Names outside of the file system are Linux's: elsewhere the port is reserved in this process.
    """
    if port in _reserved:
        return _reserved[port] == seed
    if sys.platform == "linux":
        with socket.socket(socket.AF_UNIX) as holder:
            try:
                holder.bind(f"\0notify-port-{port}")
            except OSError:
                return False
            holder.detach()
    _reserved[port] = seed
    return True
