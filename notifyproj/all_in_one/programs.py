"""The table of the processes of a small installation.

Two workers consume P0, so that P0 goes on while one is killed, frozen or starting. P1 has a worker.
P2 and P3 of all channels share one, and the sweeps share one with the webhooks to producers. The
expansion of bulk jobs, whose long transactions would take each thread of the sweeps, and the test
lanes share one, so that neither delays a live delivery.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from notifications.core.rules.lane import EXPAND, LANES, OPS, TELL, Mode, Priority
from notifyproj.processes import command

_NICENESS: Final = 10
"""Niceness, at most 19: a P0 worker gets about ten times the processor time of a bulk worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePorts:
    """Ports of the processes with pages."""

    web: int = 8000
    live: int = 8001
    flower: int = 5555


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkedProgram:
    """A process of the table."""

    name: str
    arguments: tuple[str, ...]
    """Arguments of the Python interpreter: `-m`, a module and its arguments."""
    port: int | None = None
    """The port where the process answers `path` with 200; None: the process serves no page."""
    path: str = ""
    is_bulk: bool = False
    """Low scheduling priority."""

    def run(self) -> None:
        """Run the program in this process."""
        if self.is_bulk:
            os.nice(_NICENESS)
        command.run(self.arguments)


def _lanes(*priorities: Priority, mode: Mode = Mode.LIVE) -> list[str]:
    return [lane.name for lane in LANES if lane.mode is mode and lane.priority in priorities]


def _worker(
    name: str, *, queues: list[str], concurrency: int, is_bulk: bool = False
) -> ForkedProgram:
    arguments = command.worker(name, queues=queues, concurrency=concurrency)
    return ForkedProgram(name=name, arguments=arguments, is_bulk=is_bulk)


def table(ports: PagePorts, *, host: str, has_streams: bool = True) -> tuple[ForkedProgram, ...]:
    """Return the processes; their pages listen on an address of the host.

    Without streams, which no client asks for while NOTIFY_LIVE_URL is not set, there is no `live`.
    """
    urgent = _lanes(Priority.P0)
    live = ForkedProgram(
        name="live",
        arguments=("-m", "notifyproj.live", f"--host={host}", f"--port={ports.live}"),
        port=ports.live,
        path="/readyz",
    )
    background = [EXPAND, *_lanes(*Priority, mode=Mode.TEST)]
    return (
        ForkedProgram(
            name="web",
            arguments=("-m", "notifyproj.web", f"--host={host}", f"--port={ports.web}"),
            port=ports.web,
            path="/startupz",
        ),
        *([live] if has_streams else []),
        _worker("p0", queues=urgent, concurrency=8),
        _worker("p0-2", queues=urgent, concurrency=8),
        _worker("p1", queues=_lanes(Priority.P1), concurrency=8),
        _worker("bulk", queues=_lanes(Priority.P2, Priority.P3), concurrency=8, is_bulk=True),
        # Four threads: two for the sweeps, and at most two runs of `tell`.
        _worker("ops", queues=[OPS, TELL], concurrency=4),
        _worker("background", queues=background, concurrency=4, is_bulk=True),
        ForkedProgram(name="beat", arguments=(*command.CELERY, "beat", "--loglevel=INFO")),
        ForkedProgram(
            name="flower",
            arguments=(*command.FLOWER, f"--address={host}", f"--port={ports.flower}"),
            port=ports.flower,
            path="/healthcheck",
        ),
    )
