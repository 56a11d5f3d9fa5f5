"""Beat's clock: a task that ran "in the future" is due now.

Beat compares its own clock with when a task last ran. After a clock that was an hour ahead is put
right, django-celery-beat would wait that hour, and all sweeps with it. Here the task is due now: a
message too many does no harm, because each sweep's run is won in Postgres.
"""

from __future__ import annotations

import datetime as dt

from celery.schedules import schedstate
from celery.utils.time import maybe_make_aware
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry


class Entry(ModelEntry):  # type: ignore[misc]  # untyped
    """One periodic task."""

    last_run_at: dt.datetime

    def is_due(self) -> schedstate:
        """Whether to run it now, and in how many seconds to ask again."""
        now = self._default_now()
        if maybe_make_aware(self.last_run_at) > maybe_make_aware(now):
            self.last_run_at = now
        return super().is_due()


class Scheduler(DatabaseScheduler):  # type: ignore[misc]  # untyped
    """django-celery-beat's, with entries that mind their clock."""

    Entry = Entry
