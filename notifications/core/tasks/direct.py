"""Direct mode: deliver from Postgres while the broker is away.

A thread of each worker process probes the broker every second, of a process without P0 and P1 every
two seconds. While the broker takes no write, or the process's consumer has no connection, the
thread takes due rows of the process's lanes as the relay does, P0 before P1 before P2 and P3, and
delivers them in the process's pool. A process that serves `ops` also runs the sweeps, so retries,
releases and rescues go on.

If the broker refuses this process alone, other processes publish into queues without a consumer. So
every second the thread also takes P0 and P1 that were published seconds ago and are not claimed.

A starting process takes due P0 and P1 of its lanes once in the same way, because their messages may
be lost with a killed worker while the relay is down.

When the broker comes back, its old messages are harmless: the rows are claimed or final. The rows
of a process that died come due again.

While the broker takes writes, the cost is at most one command a second for each process. A process
that consumes neither a lane nor `ops` has no work in direct mode and no such thread: `fallbacks`
probes the broker each ten seconds, as in the web process.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

import structlog
from celery.signals import celeryd_after_setup
from celery.worker.state import active_requests
from django.db import connection

from notifications.core import broker, clock, lanes, stopping, sweeps
from notifications.core.delivery import deliver
from notifications.core.rules.lane import LANES, OPS, Lane
from notifications.core.rules.states import Status
from notifications.core.store.postgres import (
    fallbacks,
    id_ranges,
    periodic_tasks,
    publish,
    thread_session,
)
from notifications.core.store.postgres.id_ranges import Span
from notifications.core.sweeps import publish_quota, relay, rounds
from notifications.core.tasks.deliver import SLOTS

_log = structlog.get_logger(__name__)

_PROBE_EVERY: Final = 1.0
"""Seconds between two probes while the broker takes writes, of a process with P0 or P1."""
_PATIENT_PROBE_EVERY: Final = 2.0
"""The same of a process whose lanes may wait longer."""
_LOOK_EVERY: Final = 0.2
"""Seconds between two queries for due rows in direct mode: twice the mean delay of an OTP."""
_LOST_EVERY: Final = 1.0
"""Seconds between two queries for published rows that no worker claims."""
_LOST_LIMIT: Final = 20_000
"""Maximum rows of a lane that are made due when the broker goes away."""
_SECOND: Final = dt.timedelta(seconds=1)
_NOT_CONSUMING: Final = "takes writes and does not let the worker consume"
_PATIENT: Final = dt.timedelta(seconds=10)
"""Sweeps with a longer interval keep their interval in direct mode."""

Work = Callable[[], object]
"""Delivers rows of one message."""
Submit = Callable[[Callable[[], None]], None]
"""Runs a function in the worker's pool."""


class Direct:
    """The work of a worker process while the broker is away.

    Args:
        queues: the queues that the process consumes.
        slots: the number of concurrent tasks.
        submit: runs a function in the pool.
        busy: returns the number of Celery tasks that run now.
    """

    def __init__(
        self, queues: Sequence[str], *, slots: int, submit: Submit, busy: Callable[[], int]
    ) -> None:
        self._lanes = {lane for lane in LANES if lane.name in queues}
        self._sweep_at = dict.fromkeys(sweeps.SWEEPS, 0.0) if OPS in queues else {}
        self._lost_at = 0.0
        self._slots = slots
        self._submit = submit
        self._busy = busy
        self._lock = threading.Lock()
        self._in_flight: list[object] = []

    @property
    def has_work(self) -> bool:
        """Return True if the process consumes a lane or the queue of the sweeps."""
        return bool(self._lanes or self._sweep_at)

    @property
    def probe_every(self) -> float:
        """Seconds between two probes while the broker takes writes."""
        return _PROBE_EVERY if self._urgent() else _PATIENT_PROBE_EVERY

    def begin(self) -> None:
        """Make published rows due, because their messages are in the lost broker."""
        for lane in self._urgent():
            spans = id_ranges.current()
            relay.make_lost_due(lane, spans, limit=_LOST_LIMIT, older_than=relay.AT_ONCE)

    def catch_up(self) -> bool:
        """Start due P0 and P1; returns False, without any work, if no slot is free."""
        if self._urgent() and not self._free():
            return False
        self._make_lost_due()
        self._look_at_lanes(set(self._urgent()))
        return True

    def look(self) -> int:
        """Start due work in free slots; returns the number of started sweeps and messages."""
        if self._free() and clock.is_trusted() and clock.monotonic() >= self._lost_at:
            self._lost_at = clock.monotonic() + _LOST_EVERY
            self._make_lost_due()
        return self._look_at_sweeps() + self._look_at_lanes(self._lanes)

    def _urgent(self) -> list[Lane]:
        return sorted(lane for lane in self._lanes if lane.priority.is_urgent)

    def _make_lost_due(self) -> None:
        """Make published P0 and P1 due that no worker claims, as many as the slots take."""
        urgent, limit = self._urgent(), self._slots * lanes.URGENT_CHUNK
        for span in id_ranges.current():
            for lane in rounds.lanes_due(Status.QUEUED, span, within=relay.EVER):
                if lane in urgent:
                    relay.make_lost_due(lane, [span], limit=limit)

    def _look_at_lanes(self, among: AbstractSet[Lane]) -> int:
        if not among or not clock.is_trusted():  # the consumer is paused as well
            return 0
        return sum(
            self._look_at(lane, span, most)
            for span in id_ranges.current()
            for lane, most in _due(span, among)
        )

    def _look_at(self, lane: Lane, span: Span, most: int) -> int:
        begun, works = 0, _works(lane, span, most)
        while self._free() and SLOTS.take(lane.name):
            work = None
            try:
                work = next(works, None)
            finally:
                if work is None:
                    SLOTS.give_back(lane.name)
            if work is None:
                break
            self._start(lane, partial(_deliver, lane.name, work))
            begun += 1
        return begun

    def _look_at_sweeps(self) -> int:
        """Start due sweeps, the longest due first.

        Sweeps with an interval of a few seconds run every second, because no message precedes them
        in direct mode.
        """
        if not self._sweep_at:
            return 0
        begun, moment, rhythms = 0, clock.monotonic(), periodic_tasks.rhythms()
        for name, at in sorted(self._sweep_at.items(), key=itemgetter(1)):
            rhythm = rhythms.get(name)
            if at > moment or name in self._in_flight or (rhythm and not rhythm.is_on):
                continue
            if self._free():
                usual = sweeps.SWEEPS[name].every
                every = rhythm.interval(usual) if rhythm else usual
                every = every if every > _PATIENT else _SECOND
                self._sweep_at[name] = moment + every.total_seconds()
                limit = rhythm.limit if rhythm else None
                self._start(name, partial(sweeps.run, name, every=every, limit=limit))
                begun += 1
        return begun

    def _free(self) -> bool:
        return len(self._in_flight) + self._busy() < self._slots

    def _start(self, what: object, run: Callable[[], object]) -> None:
        with self._lock:
            self._in_flight.append(what)
        try:
            self._submit(partial(self._run, what, run))
        except BaseException:
            with self._lock:
                self._in_flight.remove(what)
            raise

    def _run(self, what: object, run: Callable[[], object]) -> None:
        try:
            thread_session.drop_broken()
            run()
        except Exception:  # noqa: BLE001 - logged, as of a task; its rows come due again
            _log.exception("direct_work_failed", what=str(what))
        finally:
            with self._lock:
                self._in_flight.remove(what)


def _due(span: Span, among: AbstractSet[Lane]) -> Iterator[tuple[Lane, int]]:
    """Return lanes with a due row, urgent lanes first, and their publish quota."""
    due = rounds.lanes_due(Status.QUEUED, span, within=rounds.NO_GRACE)
    found = [lane for lane in due if lane in among]
    quotas = publish_quota.quotas(dict.fromkeys(found, 0)) if found else {}
    yield from ((lane, quotas[lane]) for lane in found if lane in quotas)


def _works(lane: Lane, span: Span, most: int) -> Iterator[list[Work]]:
    """Yield the work of each slot, while rows are due and the quota lasts."""
    if lane.priority.is_urgent:
        while messages := relay.take(lane, span, min(most, lanes.URGENT_CHUNK)):
            yield [partial(_deliver_ids, lane.name, each) for each in messages]
        return
    due, messages_of_lane = relay.lane_messages(lane, [span], most)
    for _, rows in messages_of_lane:
        publish_quota.charge_published(lane, min(rows, due))
        due -= rows
        yield [partial(deliver.deliver_due, lane, span, rows=rows)]


def _deliver_ids(lane: str, delivery_ids: Sequence[UUID]) -> None:
    if stopping.is_stopping():
        publish.make_due(delivery_ids)
    else:
        deliver.deliver(delivery_ids, lane=lane)


def _deliver(lane: str, work: Sequence[Work]) -> None:
    """Deliver rows in the calling thread; retries and holds come due in Postgres."""
    try:
        for each in work:
            _deliver_one(lane, each)
    finally:
        SLOTS.give_back(lane)


def _deliver_one(lane: str, work: Work) -> None:
    try:
        work()
    except Exception:  # noqa: BLE001 - as of a task: the other messages go on, the rows come due
        _log.exception("direct_work_failed", what=lane)
        thread_session.drop_broken()


def watch(direct: Direct, is_connected: Callable[[], bool]) -> None:
    """Run direct mode at the start and while the broker is away, until the process stops."""
    pause, is_away, seconds = threading.Event(), False, direct.probe_every
    has_caught_up = False
    while not pause.wait(seconds) and not stopping.is_stopping():
        if not clock.is_compared():  # the process has not reached its database yet
            continue
        was_away = is_away
        try:
            # While the broker is away a thread of `broker` probes: a hanging probe delays no query.
            takes = broker.takes_messages() if was_away else broker.probe()
            is_away = not (takes and is_connected())
            if is_away and not was_away:
                _log.warning("broker_away", reason=broker.fault() or _NOT_CONSUMING)
                direct.begin()
            if is_away:
                direct.look()
            elif was_away:
                _log.warning("broker_back")
                connection.close()
            elif not has_caught_up:
                has_caught_up = direct.catch_up()
                connection.close()
            seconds = _LOOK_EVERY if is_away else direct.probe_every
        except Exception:  # noqa: BLE001 - whatever it is, the next look must come
            _log.exception("direct_look_failed")
            connection.close()
            seconds = direct.probe_every


@celeryd_after_setup.connect
def _start(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Start the thread that watches the broker."""

    def submit(run: Callable[[], None]) -> None:
        instance.pool.apply_async(run)

    def busy() -> int:
        is_started = getattr(instance, "pool", None) is not None
        return len(active_requests) if is_started else instance.concurrency

    def is_connected() -> bool:
        consumer = getattr(instance, "consumer", None)
        return consumer is None or bool(consumer.is_connected)  # None: the worker is starting

    queues = list(instance.app.amqp.queues.consume_from)
    direct = Direct(queues, slots=instance.concurrency, submit=submit, busy=busy)
    if direct.has_work:
        threading.Thread(
            target=watch, args=(direct, is_connected), name="direct", daemon=True
        ).start()

    def ask() -> str:
        if not direct.has_work:
            broker.probe()
        return broker.fault() or ("" if is_connected() else _NOT_CONSUMING)

    servers = [replace(fallbacks.BROKER, ask=ask), fallbacks.STATE, fallbacks.FLIGHTS]
    fallbacks.FallbackWatch(instance.hostname, servers).start()
