"""Beat's scheduler: a task with a last run in the future is due now.

Beat compares the clock of the host with the time of a task's last run. After the correction of a
clock that was an hour ahead, django-celery-beat would wait for an hour, and every sweep would stop
for that hour. With this scheduler the task is due at once. A superfluous message does no harm,
because Postgres gives each run of a sweep to one worker.

A sweep without work costs no message. When the tasks of such sweeps are due, beat asks the database
once for all of them (`sweeps.with_work`), and sends those with work. A task that was not sent for
`sweeps.slowest(interval)` is sent in any case, and all are sent while the database does not answer.

Beat keeps one connection to the broker. After a failover the connection may lead to a replica,
which refuses each message: the scheduler closes the connection, and the next task reaches the new
primary. A connection to RabbitMQ does not come back by itself, so the scheduler does the same.
"""

from __future__ import annotations

import datetime as dt
import math
import threading
from typing import Any, Final

import structlog
from celery.beat import SchedulingError
from celery.schedules import schedstate, schedule
from celery.utils.time import maybe_make_aware
from django.db import Error, connection
from django_celery_beat.schedulers import (
    SCHEDULE_SYNC_MAX_INTERVAL,
    DatabaseScheduler,
    ModelEntry,
)

from notifications.core import clock, server_faults, sweeps
from notifications.core.rabbitmq import Blocked
from notifications.core.store.postgres import periodic_tasks

_log = structlog.get_logger(__name__)

_TOGETHER: Final = 0.5
"""Seconds by which a sweep is looked at early, beside another one: half the shortest interval."""

_CLOSE_SECONDS: Final = 5.0
"""Time to store the last runs at the end."""


class PeriodicEntry(ModelEntry):  # type: ignore[misc]  # untyped
    """A periodic task."""

    last_run_at: dt.datetime

    def is_due(self) -> schedstate:
        """Return the task's state: due or not, and the seconds until the next check."""
        now = self._default_now()
        if maybe_make_aware(self.last_run_at) > maybe_make_aware(now):
            self.last_run_at = now
        return super().is_due()

    @property
    def sweep(self) -> str:
        """The name of the task's sweep; empty for another task."""
        name = str(self.task).removeprefix(periodic_tasks.PREFIX)
        return name if name in sweeps.SWEEPS and name != self.task else ""

    def waits_for_work(self) -> bool:
        """Return True if the task may be left out without work: it was sent lately.

        The last message is the one of the row; `last_run_at` is that of the last look.
        """
        if not self.sweep or sweeps.SWEEPS[self.sweep].work is None:
            return False
        if not isinstance(self.schedule, schedule):  # such as a crontab
            return False
        age = maybe_make_aware(self._default_now()) - maybe_make_aware(self.model.last_run_at)
        # Negative after the correction of a clock that was ahead.
        longest = sweeps.slowest(self.schedule.run_every)
        return bool(dt.timedelta(0) <= age < longest)

    def note_look(self) -> None:
        """Note a look that found no work: the task is due after a further interval."""
        self.last_run_at = self._default_now()


class Scheduler(DatabaseScheduler):  # type: ignore[misc]  # untyped
    """django-celery-beat's scheduler, with `PeriodicEntry` for its periodic tasks."""

    Entry = PeriodicEntry
    look_seconds = 1.0
    """Time from a look for changed tasks to the next, and from a failed read to the next."""
    _looked_at = -math.inf

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - Celery is untyped
        """Read no task yet: beat first waits for its database (`notifyproj.celery`)."""
        self._with_work: set[str] = set()
        """Sweeps with work whose tasks are not sent yet."""
        self._is_closed = False
        super().__init__(*args, **{**kwargs, "lazy": True})

    def adjust(self, n: float, drift: float = 0.0) -> float:
        """Return the seconds until beat looks at a task again: exactly those until it is due.

        Celery's own `drift` wakes beat 10 ms early, and beat then asks without a pause.
        """
        return n + drift if n else n

    def is_due(self, entry: PeriodicEntry) -> schedstate:
        """Return the state of a task; the task of a sweep without work waits a further interval."""
        state = entry.is_due()
        if not state.is_due or not entry.waits_for_work():
            return state
        if entry.sweep not in self._with_work:
            self._look_for_work(entry)
        if entry.sweep not in self._with_work:
            return entry.is_due()
        self._with_work.discard(entry.sweep)
        return state

    def _look_for_work(self, entry: PeriodicEntry) -> None:
        """Ask for the work of a task's sweep, and of those that are due now or soon.

        Early looks bring the tasks together, so that beat asks about once a second.
        """
        known = [entry, *(event.entry for event in self._heap or ())]
        waiting = [each for each in known if each.waits_for_work() and _is_due_soon(each)]
        names = {each.sweep for each in waiting}
        try:
            self._with_work |= sweeps.with_work(names)
        except Error as error:
            _log.warning("work_not_read", error=str(error))
            self._with_work |= names
        for each in waiting:
            if each.sweep not in self._with_work:
                each.note_look()

    def schedule_changed(self) -> bool:
        """Return True after a change of the tasks; looks once in `look_seconds`.

        Beat calls this method before each look at a task. While Postgres is away, each look logs
        a traceback.
        """
        now = clock.monotonic()
        if now - self._looked_at < self.look_seconds:
            return False
        self._looked_at = now
        return bool(super().schedule_changed())

    def all_as_schedule(self) -> dict[str, ModelEntry]:
        """Return the tasks of Postgres, by name; while Postgres is away, those of the last read.

        Celery catches an error of Postgres when it looks for changes, and not here: beat would end.

        Raises:
            Error: Postgres is away, and the tasks were never read.
        """
        try:
            found: dict[str, ModelEntry] = super().all_as_schedule()
        except Error:
            if self._schedule is None:
                raise
            again_in = dt.timedelta(seconds=SCHEDULE_SYNC_MAX_INTERVAL - self.look_seconds)
            self._last_full_sync = dt.datetime.now() - again_in  # noqa: DTZ005, TID251 - as the base class
            return self._schedule  # type: ignore[no-any-return]  # untyped
        if self._schedule is None:
            _log.info("periodic_tasks_read", count=len(found))
        return found

    def close(self) -> None:
        """Store the times of the last runs, within seconds: a frozen Postgres stops no end of beat.

        Celery calls this method in the handler of SIGTERM, while the main thread may be in a
        statement. So a thread stores the times, over a connection of its own. A task without a
        stored time is sent early after the restart.
        """
        if not self._is_closed:
            self._is_closed = True
            work = threading.Thread(target=self._store_last_runs, name="last-runs", daemon=True)
            work.start()
            work.join(_CLOSE_SECONDS)

    def _store_last_runs(self) -> None:
        try:
            super().close()
        finally:
            connection.close()

    def apply_async(self, entry: ModelEntry, **options: Any) -> Any:  # noqa: ANN401 - Celery is untyped
        """Send the message of a task.

        Raises:
            SchedulingError: the broker did not take the message; Celery logs the error.
        """
        try:
            return super().apply_async(entry, **options)
        except SchedulingError as error:
            if server_faults.is_read_only(error):
                self.connection.close()
                for cached in ("producer", "connection"):
                    self.__dict__.pop(cached, None)
            elif self.connection.transport.driver_type == "amqp" and not _is_blocked(error):
                self.connection.collect()
                self.producer.revive(self.connection)  # the next task connects
            raise


def _is_due_soon(entry: PeriodicEntry) -> bool:
    state = entry.is_due()
    return bool(state.is_due or state.next <= _TOGETHER)


def _is_blocked(error: SchedulingError) -> bool:
    """Return True if RabbitMQ blocks the connection, and will say when the block ends."""
    return any(isinstance(each, Blocked) for each in server_faults.chain(error))
