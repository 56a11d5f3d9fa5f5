"""The number of requests that the connections to one origin can carry now.

Over HTTP/1.1 each request in flight has a separate connection, and any number may start. Over
HTTP/2 a connection carries up to `STREAMS`, but a new connection carries a single request until the
first answer (`sockets` gives the reason). So a request either uses a proven connection, or opens a
connection as the connection's first request. After the answer on one connection, the origin opens
as many connections at the same time as the waiting requests need, so that twenty connections take
three round trips and not twenty.

libcurl's choice of a connection is known only afterwards: `room` is an estimate, corrected by each
request that came to a connection too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

STREAMS: Final = 100
"""Most requests that libcurl starts on one connection; the server may allow fewer."""
_MOST_OPENING: Final = 8
"""Connections to one origin opened at the same time."""
_FORGET_SECONDS: Final = 25.0
"""Idle time after which no connection is counted on; shorter than `easy.IDLE_CONNECTION_LIFE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The way in which a request gets a connection."""

    opens: bool
    """The request is meant to be the first request of a connection."""
    fresh: bool
    """The request takes no open connection."""
    sweeping: bool
    """The connection is closed after the request. libcurl keeps a connection that the server closed
    for up to a second and gives the connection to the next request; the closing removes the
    connection."""


USUAL: Final = Plan(opens=False, fresh=False, sweeping=False)
"""The plan of nearly every request."""


@dataclass(slots=True, eq=False)
class Origin:
    """The state of one scheme, host and port. The loop's thread owns the object."""

    may_multiplex: bool
    """HTTP/2 comes with TLS only."""
    in_flight: int = 0
    _room: float = 0
    """Most requests on proven connections."""
    _proven: int = 0
    """Connections that have answered."""
    _opening: int = 0
    """Requests in flight that are the first requests of their connections."""
    _used_at: float = 0.0
    _sweeps_next: bool = False
    """A connection was found closed: the next request removes the connection."""

    def __post_init__(self) -> None:
        """Set no limit without shared connections."""
        if not self.may_multiplex:
            self._room = inf

    def wake(self, *, now: float) -> None:
        """Count on no connection if the last use was long ago (monotonic seconds)."""
        if self.may_multiplex and now - self._used_at > _FORGET_SECONDS:
            self._room = self._proven = 0
        self._used_at = now

    def takes_another(self, *, waiting: int) -> bool:
        """Return True if a waiting request can use a connection or open a connection."""
        if self.in_flight - self._opening < self._room:
            return True
        needed = min(_MOST_OPENING, 1 + waiting // STREAMS) if self._proven else 1
        return self._opening < needed

    def start(self) -> Plan:
        """Count one more request, and return the way to a connection."""
        opens, sweeping = self.in_flight - self._opening >= self._room, self._sweeps_next
        self.in_flight += 1
        if not opens and not sweeping:
            return USUAL
        self._opening += opens
        self._sweeps_next = False
        fresh = opens and self._proven > 0 and not sweeping
        return Plan(opens=opens, fresh=fresh, sweeping=sweeping)

    def end(self, *, opened: bool) -> None:
        """Count a request less."""
        self.in_flight -= 1
        self._opening -= opened

    def came_early(self) -> None:
        """Note that an ended request was given a connection without an answer so far."""
        self._room = min(self._room, max(0, self.in_flight - self._opening))

    def met_closed(self, *, is_gone: bool) -> None:
        """Note a request on a connection closed by the server."""
        self._sweeps_next |= not is_gone
        self._proven = max(0, self._proven - 1)
        self._room = max(0, self._room - STREAMS)

    def record_answer(self, *, multiplexes: bool) -> None:
        """Note an answer to the first request of a connection, or to a request meant as first."""
        self._proven += 1
        self._room = self._room + STREAMS if multiplexes else inf
