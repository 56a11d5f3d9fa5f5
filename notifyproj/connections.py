"""Closes slow connections of the web process and limits the connections of each client address.

The server limits the time for a request's head, but neither the time for a body nor the time in
which a client reads a response. A thread reads the kernel's counters of each connection once a
second, outside the path of a request, and shuts down a connection

    whose request came slower than `bytes_per_second`, once `request_seconds` have passed
    whose client reads a response slower than that over `request_seconds`
    on which nothing was sent or received for `head_seconds` and `request_seconds` together
    beyond the limit of its address (an IPv6 network of 64 bits counts as one address)

The last rule excepts connections of a trusted proxy, because such a connection carries many
clients. The thread shuts down a copy of the descriptor; for the server, the client has closed the
connection. The thread needs Linux (`/proc/self/fd`, `TCP_INFO`). On other systems the thread logs a
warning and closes no connection.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from notifications import clock
from notifications.api import clients
from notifications.conf import Web

EVERY_SECONDS: Final = 1.0
_BETWEEN_PAUSES: Final = 16
"""Descriptors; their inspection takes a third of a millisecond."""
_PAUSE_SECONDS: Final = 0.0005
_DESCRIPTORS: Final = Path("/proc/self/fd")
_INFO: Final = struct.Struct("=24x I 92x Q Q 8x I 52x Q")
"""Fields of Linux's `struct tcp_info`: unacked, bytes_acked, bytes_received, notsent_bytes and,
since Linux 4.19, bytes_sent (include/uapi/linux/tcp.h)."""

_AT_ONCE: Final = struct.pack("ii", 1, 0)
"""`struct linger`: the kernel resets a closed connection and drops its unsent bytes."""

Peer: TypeAlias = tuple[str, int]
_log: Final = logging.getLogger(__name__)


class Reason(StrEnum):
    """Reason for the shutdown of a connection."""

    SLOW_REQUEST = "slow_request"
    """The request did not come in time."""
    SLOW_READER = "slow_reader"
    """The client did not read the response in time."""
    IDLE = "idle"
    """No byte was sent or received; a part of a request may have come behind another request."""
    TOO_MANY = "too_many"
    """The client address has more connections than the limit."""


@dataclass(frozen=True, slots=True)
class Counters:
    """The kernel's counters of a connection."""

    received: int
    """Bytes from the client."""
    sent: int
    """Bytes that the kernel has handed to the network."""
    acked: int
    """Bytes that the client's kernel has confirmed."""
    waiting: int
    """Bytes or segments of a response that the client has not taken yet."""


@dataclass(slots=True)
class _Seen:
    """State of a connection at the last checks; instants are seconds of a monotonic clock."""

    since: float
    counters: Counters
    changed_at: float
    """Instant of the last transfer in either direction."""
    asked_at: float | None = None
    """Arrival of the first byte of the request without a response; None: no such request."""
    asked_from: int = 0
    """`received` at `asked_at`."""
    stalled_at: float | None = None
    """Start of the measured wait for the client to read; None: the client has read all."""
    stalled_from: int = 0
    """`acked` at `stalled_at`."""


@dataclass(slots=True)
class Judge:
    """Selects the connections to shut down; does no I/O."""

    limits: Web
    _seen: dict[Peer, _Seen] = field(default_factory=dict)

    def judge(self, found: dict[Peer, Counters], *, now: float) -> dict[Peer, Reason]:
        """Return the reason for each connection to shut down, by the client's address and port.

        Args:
            found: the counters of every connection, by the client's address and port.
            now: seconds of a monotonic clock.
        """
        self._seen = {peer: each for peer, each in self._seen.items() if peer in found}
        closing = dict(self._too_many(found))
        for peer, counters in found.items():
            seen = self._seen.get(peer)
            if seen is None:
                # A request with bytes sent is answered; without, its first bytes may have come.
                seen = self._seen[peer] = _Seen(now, counters, now)
                seen.asked_at = now if counters.received and not counters.sent else None
                continue
            if self._asks_slowly(seen, counters, now):
                closing[peer] = Reason.SLOW_REQUEST
            elif self._reads_slowly(seen, counters, now):
                closing[peer] = Reason.SLOW_READER
            elif self._is_idle(seen, counters, now):
                closing[peer] = Reason.IDLE
            seen.counters = counters
        return closing

    def _asks_slowly(self, seen: _Seen, counters: Counters, now: float) -> bool:
        before = seen.counters
        if counters.sent != before.sent:
            seen.asked_at = None
        elif seen.asked_at is None and counters.received != before.received:
            seen.asked_at, seen.asked_from = now, before.received
        if seen.asked_at is None:
            return False
        came = counters.received - seen.asked_from
        return now - seen.asked_at > self.limits.request_seconds + came / self.limits.rate

    def _reads_slowly(self, seen: _Seen, counters: Counters, now: float) -> bool:
        if not counters.waiting:
            seen.stalled_at = None
            return False
        if seen.stalled_at is None:
            seen.stalled_at, seen.stalled_from = now, counters.acked
        passed, taken = now - seen.stalled_at, counters.acked - seen.stalled_from
        if passed <= self.limits.request_seconds:
            return False
        seen.stalled_at, seen.stalled_from = now, counters.acked
        return taken < passed * self.limits.rate

    def _is_idle(self, seen: _Seen, counters: Counters, now: float) -> bool:
        """Return True for a long idle time; a request in progress has the rule for slow requests.

        The response to a request may take long.
        """
        if counters != seen.counters or seen.asked_at is not None:
            seen.changed_at = now
        return now - seen.changed_at > self.limits.head_seconds + self.limits.request_seconds

    def _too_many(self, found: Iterable[Peer]) -> Iterator[tuple[Peer, Reason]]:
        most = self.limits.connections_per_address
        if not most:
            return
        of_address: defaultdict[str, list[Peer]] = defaultdict(list)
        for peer in found:
            of_address[clients.rate_limit_key(peer[0])].append(peer)
        for peers in of_address.values():
            if len(peers) > most and not self.limits.trusts(peers[0][0]):
                # The oldest connections stay, so a new client learns of the limit at once.
                peers.sort(key=self._age)
                yield from ((peer, Reason.TOO_MANY) for peer in peers[most:])

    def _age(self, peer: Peer) -> float:
        seen = self._seen.get(peer)
        return seen.since if seen is not None else float("inf")


class Watch(threading.Thread):
    """Checks the connections of this process until the process ends."""

    def __init__(self, limits: Web) -> None:
        """Apply `limits` to every port that this process listens on."""
        super().__init__(name="connections", daemon=True)
        self._judge = Judge(limits)
        self._ports: frozenset[int] = frozenset()

    def run(self) -> None:
        """Check the connections once a second."""
        if not _DESCRIPTORS.is_dir():
            _log.warning("slow connections stay open: %s is missing", _DESCRIPTORS)
            return
        pause = threading.Event()
        while not pause.wait(EVERY_SECONDS):
            self.look()

    def look(self) -> Counter[Reason]:
        """Check the connections once and return the number of shutdowns by reason."""
        self._ports = self._ports or frozenset(_listening())
        found: dict[Peer, Counters] = {}
        for peer, copy in _connections_to(self._ports):
            with suppress(OSError):  # the connection has just ended
                found[peer] = _counters(copy)
        verdicts = self._judge.judge(found, now=clock.monotonic())
        for peer, copy in _connections_to(self._ports) if verdicts else ():
            if peer in verdicts:
                _shut(copy)
        closed = Counter(verdicts.values())
        for reason, count in closed.items():
            _log.warning("connections_closed: %s: %s", reason, count)
        return closed


def _copies() -> Iterator[socket.socket]:
    """Yield a copy of each socket and close the copy afterwards.

    A copy stays valid when the server closes its descriptor. The family is AF_INET6, which has the
    longest addresses, because a query of the true family takes three calls.
    """
    pause = threading.Event()
    for number, name in enumerate(os.listdir(_DESCRIPTORS)):  # noqa: PTH208 - a Path for each of thousands is slow
        if number % _BETWEEN_PAUSES == 0:
            pause.wait(_PAUSE_SECONDS)  # lets requests that wait for the interpreter run first
        with suppress(OSError):
            copy = os.dup(int(name))
            try:
                each = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, fileno=copy)
            except OSError:
                os.close(copy)
                continue
            with each:
                yield each


def _listening() -> Iterator[int]:
    """Yield the ports that this process listens on."""
    for each in _copies():
        with suppress(OSError):
            name = each.getsockname()
            if isinstance(name, tuple) and each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield name[1]


def _connections_to(ports: frozenset[int]) -> Iterator[tuple[Peer, socket.socket]]:
    """Yield the client and a copy of the socket of each connection to `ports`."""
    for each in _copies():
        with suppress(OSError):
            name = each.getsockname()
            # Sockets of other families have names of another shape.
            if isinstance(name, tuple) and name[1] in ports:
                address, port = each.getpeername()[:2]
                yield (address, port), each


def _shut(copy: socket.socket) -> None:
    """End a connection for both sides; the kernel drops the bytes that the client did not read."""
    with suppress(OSError):  # the client was faster
        copy.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        copy.shutdown(socket.SHUT_RDWR)


def _counters(each: socket.socket) -> Counters:
    raw = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO.size)
    unacked, acked, received, unsent, sent = _INFO.unpack(raw.ljust(_INFO.size, b"\0"))
    return Counters(received=received, sent=sent, acked=acked, waiting=unacked + unsent)
