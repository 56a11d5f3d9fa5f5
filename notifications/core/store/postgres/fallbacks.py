"""Fallbacks: alerts about processes without the broker or without the state Redis.

A worker without notes of calls (`store.flight_recorder`) and a web process without the read replica
(`replica`) raise such an alert, too. Several beats share one (`store.redis.running_beats`).

A fallback hides the cause: a worker with a wrong password of the broker delivers from PostgreSQL
for ever. So a thread of each process pings the two servers. After `PATIENCE` without a server the
process raises an alert with the process's name; `/readyz` and `/metrics` of the web processes read
the alerts. The process resolves the alert when the server is back. The alert of an ended process
ends without renewal (`rules.alerts.RENEWED`).
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from django.db.models import QuerySet

from notifications.core import broker, clock
from notifications.core.models import Alert
from notifications.core.rules.alerts import BEAT, AlertKind
from notifications.core.store import flight_recorder
from notifications.core.store.postgres import alerts, host_clock, looks, replica
from notifications.core.store.redis import state
from notifications.core.store.redis.running_beats import RunningBeats

EVERY: Final = dt.timedelta(seconds=10)
"""Between two questions to a server."""
PATIENCE: Final = dt.timedelta(seconds=30)
"""Longer than a restart of a server takes; with `EVERY`, the alert is there within a minute."""
_RENEWED_WITHIN: Final = 6 * EVERY
"""An alert not renewed for this time is one of an ended process."""

_log = structlog.get_logger(__name__)

Ask = Callable[[], str]
"""Returns the fault of a server in words (`server_faults`); empty for a server that works."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server without which a process works by a fallback; of `BEATS`, the only beat."""

    kind: AlertKind
    name: str
    """The name in sentences."""
    label: str
    """The label of the metric; empty: not counted."""
    ask: Ask
    consequence: str


def _ask_broker() -> str:
    broker.probe()
    return broker.fault()


STATE: Final = Server(
    AlertKind.STATE_AWAY,
    "the state Redis",
    "state",
    state.probe,
    "no sent-ledger, no caps, no shared rate limits",
)
BROKER: Final = Server(
    AlertKind.BROKER_AWAY,
    "the broker",
    "broker",
    _ask_broker,
    "deliveries and sweeps are taken from PostgreSQL",
)
FLIGHTS: Final = Server(
    AlertKind.FLIGHT_RECORDER_OFF,
    "the flight recorder",
    "flight_recorder",
    flight_recorder.fault,
    "if the process is killed, its calls are unanswered",
)
REPLICA: Final = Server(
    AlertKind.REPLICA_LEFT,
    "the read replica",
    "replica",
    replica.fault,
    "figures, lists and exports read the primary",
)


@functools.cache
def _running_beats() -> RunningBeats:
    return RunningBeats(host_clock.host_name())


BEATS: Final = Server(
    AlertKind.BEAT_DOUBLED,
    BEAT,
    "",
    lambda: _running_beats().fault(),
    "each sweep still runs once an interval; end all but one",
)
_COUNTED: Final = (BROKER, STATE, FLIGHTS, REPLICA)


class FallbackWatch:
    """Pings the servers of the process in a thread.

    Args:
        process: the name of the process in alerts, such as `worker@host`.
        servers: the servers that the process uses.
    """

    def __init__(self, process: str, servers: Sequence[Server] = (BROKER, STATE)) -> None:
        self._process = process
        self._servers = servers
        self._since: dict[AlertKind, float] = {}
        # An alert of a process before this one may still be open.
        self._told = {server.kind for server in servers}

    def start(self) -> None:
        """Ask until the process ends."""
        looks.keep_looking(self.look, name="fallbacks", every=EVERY)

    def look(self) -> None:
        """Ping every server once; raise and resolve alerts."""
        for server in self._servers:
            fault = server.ask()
            if fault:
                self._note_fault(server, fault)
            else:
                self._note_return(server)

    def _note_fault(self, server: Server, fault: str) -> None:
        lasts = clock.steady() - self._since.setdefault(server.kind, clock.steady())
        if lasts < PATIENCE.total_seconds():
            return
        since = clock.now() - dt.timedelta(seconds=lasts)
        detail = f"{server.name} {fault} (since {since:%H:%M:%S} UTC): {server.consequence}"
        alerts.raise_once(server.kind, self._process, detail)
        if server.kind not in self._told:
            self._told.add(server.kind)
            _log.error("works_by_fallback", process=self._process, detail=detail)

    def _note_return(self, server: Server) -> None:
        lasted = self._since.pop(server.kind, None)
        if server.kind not in self._told:
            return
        alerts.resolve(server.kind, self._process)
        self._told.discard(server.kind)
        if lasted is not None:
            _log.warning("works_without_fallback", process=self._process, server=server.label)


def name_of(role: str) -> str:
    """Return the name of a process other than a worker: the role and the machine's name."""
    return f"{role}@{host_clock.host_name()}"


def current(*, now: dt.datetime) -> list[str]:
    """Return a sentence for each process on a fallback.

    Raises:
        django.db.Error: the database is away.
    """
    return [f"{row.subject}: {row.detail}" for row in _rows(now)]


def counts(*, now: dt.datetime) -> Mapping[str, int]:
    """Return the number of processes without a server, by the label of the server.

    Raises:
        django.db.Error: the database is away.
    """
    kinds = list(_rows(now).values_list("kind", flat=True))
    return {server.label: kinds.count(server.kind) for server in _COUNTED}


def _rows(now: dt.datetime) -> QuerySet[Alert]:
    """Return the open alerts of running processes."""
    rows = Alert.objects.filter(kind__in=[server.kind for server in (*_COUNTED, BEATS)])
    fresh = rows.filter(resolved_at=None, seen_at__gt=now - _RENEWED_WITHIN)
    return fresh.order_by("kind", "subject")
