"""Housekeeping: delete expired data, erase recipients, and encrypt late, in batches."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterator
from typing import Final

import structlog

from notifications.core import clock, conf, feature
from notifications.core.models import Alert, ErasureJob, Rejected
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import (
    alerts,
    change_feed,
    erasure,
    late_encryption,
    rollups,
    row_retention,
    secret_variables,
)
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept

_REJECTED_KEPT: Final = 10_000
"""Number of rejected requests kept for operators."""
_SECONDS: Final = 45.0
"""Maximum seconds of a run: less than the interval of a minute."""
_FEED_HELD_FOR: Final = dt.timedelta(minutes=5)
"""Longer than any transaction of the service."""

_log = structlog.get_logger(__name__)

_ERASURE_JOBS: Final = 20
"""Number of unfinished jobs processed in turn, oldest first."""
_MOST_ERASURE_JOBS: Final = 1_000
"""Most jobs of a run."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Wipe and delete expired rows, `limit` at a time, until done or for _SECONDS."""
    ends_at = clock.monotonic() + _SECONDS
    change_feed.mark()
    _watch_feed(now)
    oldest = now - conf.current().retention
    deletions: list[Callable[[], int]] = [
        lambda: secret_variables.wipe_expired(limit=limit),
        lambda: _trim_rejected(limit),
        lambda: _delete_old_alerts(now, limit),
        lambda: change_feed.forget_marks(before=oldest, limit=limit),
        lambda: change_feed.forget_foreign(limit=limit),
        lambda: rollups.forget(now=now, limit=limit),
        lambda: rollups.forget_series(limit=limit),
        *_by_age(now=now, limit=limit),
        *_of_features(before=oldest, limit=limit),
        lambda: late_encryption.work_off(limit=limit),  # last, because its exceptions end the run
    ]
    done = Swept()
    while deletions:
        counts = [delete() for delete in deletions]
        done += Swept(sum(counts))
        is_over = clock.monotonic() > ends_at
        deletions = [
            delete
            for delete, count in zip(deletions, counts, strict=True)
            if count >= limit and not is_over
        ]
    return done


def _by_age(*, now: dt.datetime, limit: int) -> Iterator[Callable[[], int]]:
    of_features = (kept for each in feature.all_features() for kept in each.retentions)
    for kept in (*row_retention.RETENTIONS, *of_features):
        yield functools.partial(row_retention.delete, kept, now=now, limit=limit)


def _of_features(*, before: dt.datetime, limit: int) -> Iterator[Callable[[], int]]:
    for each in feature.all_features():
        for name in each.deletions:
            yield functools.partial(feature.import_function(name), before=before, limit=limit)


def _watch_feed(now: dt.datetime) -> None:
    """Raise an alert while one open transaction holds the change feed back."""
    since = change_feed.oldest_hold()
    if since is not None and now - since > _FEED_HELD_FOR:
        detail = f"one transaction has been open since {since:%Y-%m-%d %H:%M:%S} UTC at least"
        alerts.raise_once(AlertKind.FEED_HELD, "", detail)
    else:
        alerts.resolve(AlertKind.FEED_HELD, "")


def _trim_rejected(limit: int) -> int:
    newest = Rejected.objects.order_by("-id").values_list("id", flat=True).first() or 0
    past = Rejected.objects.filter(id__lte=newest - _REJECTED_KEPT).values("id")[:limit]
    return Rejected.objects.filter(id__in=past).delete()[0]


def _delete_old_alerts(now: dt.datetime, limit: int) -> int:
    before = now - conf.current().alerts_kept
    old = Alert.objects.filter(resolved_at__lt=before).values("id")[:limit]
    return Alert.objects.filter(id__in=old).delete()[0]


def erase_recipients(*, now: dt.datetime, limit: int) -> Swept:
    """Process unfinished jobs in turn: the inbox, and `limit` notifications of each at a time.

    Safe to run twice. A job without remaining rows gets a receipt, which ends the job. A job waits
    while a day is frozen, because the rows of the day are out of reach until the day is dropped. A
    job with an exception stops no other job; the next run tries it again.

    Raises:
        DATABASE_TROUBLE: the database is away; the next run goes on.
    """
    jobs = erasure.open_jobs(limit=_MOST_ERASURE_JOBS)
    batch = functools.partial(_erase, now=now, limit=limit)
    return loops.in_turn(jobs, batch, on_error=_log_error, at_once=_ERASURE_JOBS)


def _erase(job: ErasureJob, *, now: dt.datetime, limit: int) -> Swept:
    ways = feature.functions("inbox_erasures") or [erasure.erase_inbox]
    items = sum(erase(job.recipient_id) for erase in ways)
    removed = erasure.work_off(job, now=now, limit=limit, inbox_items=items)
    return Swept(items + removed, more=items + removed > 0)


def _log_error(job: ErasureJob, _error: Exception) -> None:
    _log.exception("erasure_job_failed", job=job.pk)
