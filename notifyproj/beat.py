"""Beat's scheduler: a task whose last run lies in the future is due now.

Beat compares the clock of the host with the time of a task's last run. After the correction of a
clock that was an hour ahead, django-celery-beat would wait for an hour, and every sweep would stop
for that hour. With this scheduler the task is due at once. A superfluous message does no harm,
because Postgres gives each run of a sweep to one worker.

Beat keeps one connection to the broker. After a failover the connection may lead to a replica,
which refuses each message: the scheduler closes the connection, and the next task reaches the new
primary. A connection to RabbitMQ does not come back by itself, so the scheduler does the same.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from celery.beat import SchedulingError
from celery.schedules import schedstate
from celery.utils.time import maybe_make_aware
from django.db import Error
from django_celery_beat.schedulers import (
    SCHEDULE_SYNC_MAX_INTERVAL,
    DatabaseScheduler,
    ModelEntry,
)

from notifications.core import clock, server_faults
from notifications.core.rabbitmq import Blocked


class Entry(ModelEntry):  # type: ignore[misc]  # untyped
    """A periodic task."""

    last_run_at: dt.datetime

    def is_due(self) -> schedstate:
        """Return the task's state: due or not, and the seconds until the next check."""
        now = self._default_now()
        if maybe_make_aware(self.last_run_at) > maybe_make_aware(now):
            self.last_run_at = now
        return super().is_due()


class Scheduler(DatabaseScheduler):  # type: ignore[misc]  # untyped
    """django-celery-beat's scheduler, with `Entry` for its periodic tasks."""

    Entry = Entry
    look_seconds = 1.0
    """Time from a look for changed tasks to the next, and from a failed read to the next."""
    _looked_at = -math.inf

    def schedule_changed(self) -> bool:
        """Return True after a change of the tasks; looks once in `look_seconds`.

        Beat calls this method up to thirty times a second. While Postgres is away, each look logs
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
        return found

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


def _is_blocked(error: SchedulingError) -> bool:
    """Return True if RabbitMQ blocks the connection, and will say when the block ends."""
    return any(isinstance(each, Blocked) for each in server_faults.chain(error))
