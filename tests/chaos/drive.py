"""Plays a plan on a stage and gathers the facts."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from notifications.core.rules.states import OPEN, Status
from providers.contract import Channel
from tests.chaos.facts import Call, Facts, Fault, Row, now
from tests.chaos.plans import SERVERS, Action, Deed, Plan
from tests.chaos.producer import Lookout, Producer
from tests.chaos.stage import Stage

_TICK_SECONDS: Final = 0.05
_MEND_SECONDS: Final = 0.3
"""As the supervisor of `make demo`."""
_START_SECONDS: Final = 20.0
"""A process has started by then, on a busy machine."""
_LOOK_SECONDS: Final = 1.0
_QUIET_SECONDS: Final = 2.0
"""Without an open row, before the run is over: for what a worker without a lease may still do."""
_SOON_SECONDS: Final = 30
"""An `unknown` that is due sooner is about to be resent; a later one waits for a receipt."""
_pause: Final = Event()

_ANY_OPEN: Final = """
    SELECT count(*) FROM delivery
    WHERE status = ANY(%s) OR (status = %s AND due_at < now() + %s * interval '1 second')
"""
_ROWS: Final = """
    SELECT notification_of(id)::text AS notification_id, status, reason, attempts,
           extract(epoch FROM due_at - now())::float8 AS due_in,
           extract(epoch FROM call_started_at)::float8 AS call_started_at, provider_message_id
    FROM delivery ORDER BY id
"""


def play(plan: Plan, stage: Stage) -> Facts:
    """Play the plan to its end; returns what was seen.

    Raises:
        ProcessFailed: a process ended again and again.
        EmbeddedError: a server did not come back.
    """
    for channel, manner in plan.manners.items():
        stage.stand_ins.steer(channel, manner)
    run = _Run(plan, stage)
    lookout = Lookout(stage.url)
    lookout.start()
    try:
        run.play()
    finally:
        run.producer.stop()
        lookout.stop()
    return Facts(
        accepted=run.producer.accepted,
        refused=run.producer.refused,
        server_errors=[*run.producer.server_errors, *lookout.mistakes],
        calls=read_calls(stage.stand_ins.calls),
        faults=run.faults,
        rows=_rows(stage),
        ended=now(),
        ended_alone=run.ended_alone,
    )


class _Run:
    def __init__(self, plan: Plan, stage: Stage) -> None:
        self._plan = plan
        self._stage = stage
        self.producer = Producer(stage.url, stage.key, copies=plan.copies)
        self.faults: list[Fault] = []
        self.ended_alone: list[str] = []
        self._struck: set[str] = set()
        self._mended_at = 0.0
        self._later: list[tuple[float, Callable[[], None]]] = []
        """What ends a fault, and when."""

    def play(self) -> None:
        began = time.monotonic()
        posts = sorted(self._plan.posts, key=lambda post: post.at)
        actions = sorted(self._plan.actions, key=lambda action: action.at)
        while posts or actions or self._later:
            passed = time.monotonic() - began
            while posts and posts[0].at <= passed:
                self.producer.post(posts.pop(0), copies=self._plan.copies)
            while actions and actions[0].at <= passed:
                self._do(actions.pop(0))
            for due in [each for each in self._later if each[0] <= time.monotonic()]:
                self._later.remove(due)
                due[1]()
            self._tick()
        self._drain()

    def _tick(self) -> None:
        _pause.wait(_TICK_SECONDS)
        if time.monotonic() - self._mended_at < _MEND_SECONDS:
            return
        self._mended_at = time.monotonic()
        self._stage.repair()
        for line in self._stage.told:
            name = line.partition(" ")[0]
            if name in self._struck:
                self._struck.discard(name)
            elif not self._was_starting(name):
                code = re.search(r"ended with (-?\d+)", line)
                self.ended_alone.append(f"{name} ended by itself with {code[1] if code else line}")
        self._stage.told.clear()

    def _was_starting(self, name: str) -> bool:
        """Whether a server went away while this process started: it may end, as at any start."""
        struck_at = max((each.at for each in self.faults if each.target == name), default=0.0)
        return now() - struck_at < _START_SECONDS and any(
            each.target in SERVERS and each.at > struck_at for each in self.faults
        )

    def _drain(self) -> None:
        deadline = time.monotonic() + self._plan.drain_seconds
        quiet_since: float | None = None
        while time.monotonic() < deadline:
            if self.producer.is_idle and _open_rows(self._stage) == 0:
                quiet_since = quiet_since or time.monotonic()
                if time.monotonic() - quiet_since > _QUIET_SECONDS:
                    return
            else:
                quiet_since = None
            looked = time.monotonic()
            while time.monotonic() - looked < _LOOK_SECONDS:
                self._tick()

    def _do(self, action: Action) -> None:
        began = now()
        deeds: dict[Deed, Callable[[Action], frozenset[int] | None]] = {
            Deed.KILL: self._kill,
            Deed.KILL_MAIN: self._kill_main,
            Deed.TERMINATE: self._terminate,
            Deed.FREEZE: self._freeze,
            Deed.STAY_DEAD: self._stay_dead,
            Deed.FLUSH: lambda action: self._stage.valkey(action.target).flush(),
            Deed.FILL: self._fill,
            Deed.READ_ONLY: self._read_only,
            Deed.STEER: self._steer,
        }
        ports = deeds[action.deed](action) or frozenset()
        ended = max(began + action.seconds, now())
        self.faults.append(
            Fault(at=began, target=action.target, deed=action.deed.value, until=ended, ports=ports)
        )

    def _after(self, seconds: float, deed: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, deed))

    def _kill(self, action: Action) -> frozenset[int]:
        process = self._stage.processes.get(action.target)
        if process is None:
            server = self._stage.server(action.target)
            server.kill()
            server.start()
            return frozenset()
        self._struck.add(action.target)
        ports = self._stage.stop_still(action.target)
        process.kill()
        return ports

    def _kill_main(self, action: Action) -> None:
        self._struck.add(action.target)
        self._stage.kill_main(action.target)

    def _terminate(self, action: Action) -> None:
        self._struck.add(action.target)
        self._stage.processes[action.target].ask_to_stop()

    def _freeze(self, action: Action) -> frozenset[int]:
        if action.target in SERVERS:
            self._stage.signal_server(action.target, signal.SIGSTOP)
            self._after(
                action.seconds, lambda: self._stage.signal_server(action.target, signal.SIGCONT)
            )
            return frozenset()
        process = self._stage.processes[action.target]
        ports = self._stage.stop_still(action.target)
        self._after(action.seconds, lambda: process.signal(signal.SIGCONT))
        return ports

    def _stay_dead(self, action: Action) -> None:
        server = self._stage.server(action.target)
        server.kill()
        self._after(action.seconds, server.start)

    def _fill(self, action: Action) -> None:
        self._stage.fill(action.target, is_full=True)
        self._after(action.seconds, lambda: self._stage.fill(action.target, is_full=False))

    def _read_only(self, action: Action) -> None:
        self._stage.set_read_only(is_on=True)
        self._after(action.seconds, lambda: self._stage.set_read_only(is_on=False))

    def _steer(self, action: Action) -> None:
        self._stage.stand_ins.steer(Channel.from_label(action.target), action.manner)


def read_calls(log: Path) -> list[Call]:
    """The stand-ins' log, a call each, in the order in which they were read."""
    begun: dict[int, dict[str, Any]] = {}
    for line in log.read_text().splitlines():
        entry = json.loads(line)
        begun.setdefault(entry.pop("call"), {}).update(entry)
    return [
        Call(**{**fields, "channel": Channel.from_label(fields["channel"])})
        for fields in begun.values()
    ]


def _open_rows(stage: Stage) -> int:
    with psycopg.connect(stage.stack.postgres.url) as link:
        found = link.execute(_ANY_OPEN, [list(OPEN), Status.UNKNOWN, _SOON_SECONDS]).fetchone()
    return found[0] if found else 0


def _rows(stage: Stage) -> list[Row]:
    with (
        psycopg.connect(stage.stack.postgres.url) as link,
        link.cursor(row_factory=dict_row) as running,
    ):
        found = running.execute(_ROWS).fetchall()
    return [Row(**{**fields, "status": Status(fields["status"])}) for fields in found]
