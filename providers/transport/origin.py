"""How many requests the connections to one origin can carry now.

Over HTTP/1.1 each request in flight has a connection of its own, and any number may start. Over
HTTP/2 a connection carries up to `STREAMS`, but a new one carries a single request until that was
answered (`sockets` says why). So a request either rides on a proven connection, or it opens a
connection as its first request. When one connection has answered, as many are opened at the same
time as the waiting requests need, so that twenty of them take three round trips and not twenty.

What libcurl does with its connections is known only afterwards: `room` is an estimate, corrected by
each request that came to a connection too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

STREAMS: Final = 100
"""Most requests that libcurl starts on one connection; the server may allow fewer."""
_MOST_OPENING: Final = 8
"""Connections to one origin that are opened at the same time."""
_FORGET_SECONDS: Final = 25.0
"""Idle for this long, shorter than `easy.IDLE_CONNECTION_LIFE`, no connection is counted on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one request gets its connection."""

    opens: bool
    """It is meant to be the first request of a connection."""
    fresh: bool
    """It takes no connection that is open already."""
    sweeping: bool
    """Its connection is closed after it. libcurl keeps a connection that the other side has closed
    for up to a second and gives it to the next request; so that one is gone."""


@dataclass(slots=True, eq=False)
class Origin:
    """The state of one scheme, host and port. Belongs to the loop's thread."""

    may_multiplex: bool
    """HTTP/2 comes with TLS only."""
    in_flight: int = 0
    _room: float = 0
    """Requests that proven connections carry at most."""
    _proven: int = 0
    """Connections that have answered."""
    _opening: int = 0
    """Requests in flight that are the first ones of their connections."""
    _used_at: float = 0.0
    _sweeps_next: bool = False
    """A connection was found closed: the next request takes it away from the others."""

    def __post_init__(self) -> None:
        """Limit nothing where nothing is shared."""
        if not self.may_multiplex:
            self._room = inf

    def wake(self, *, now: float) -> None:
        """Count on no connection any more when the last use was long ago (monotonic seconds)."""
        if self.may_multiplex and now - self._used_at > _FORGET_SECONDS:
            self._room = self._proven = 0
        self._used_at = now

    def takes_another(self, *, waiting: int) -> bool:
        """Tell whether one of these waiting requests can ride on a connection or open one."""
        needed = min(_MOST_OPENING, 1 + waiting // STREAMS) if self._proven else 1
        return self._has_ride or self._opening < needed

    @property
    def _has_ride(self) -> bool:
        return self.in_flight - self._opening < self._room

    def start(self) -> Plan:
        """Count one more request, and say how it gets its connection."""
        opens, sweeping = not self._has_ride, self._sweeps_next
        self.in_flight += 1
        self._opening += opens
        self._sweeps_next = False
        fresh = opens and self._proven > 0 and not sweeping
        return Plan(opens=opens, fresh=fresh, sweeping=sweeping)

    def end(self, *, opened: bool) -> None:
        """Count one request less."""
        self.in_flight -= 1
        self._opening -= opened

    def came_early(self) -> None:
        """A request, ended already, was given a connection that had not answered yet."""
        self._room = min(self._room, max(0, self.in_flight - self._opening))

    def met_closed(self, *, is_gone: bool) -> None:
        """A request, ended already, was given a connection that the other side had closed."""
        self._sweeps_next |= not is_gone
        self._proven = max(0, self._proven - 1)
        self._room = max(0, self._room - STREAMS)

    def record_answer(self, *, multiplexes: bool) -> None:
        """A connection has answered its first request, or one that was meant to be the first."""
        self._proven += 1
        self._room = self._room + STREAMS if multiplexes else inf
