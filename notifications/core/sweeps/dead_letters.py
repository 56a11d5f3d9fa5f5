"""Dead letters: alert on growth, deletion past retention, and open replay jobs in turn."""

from __future__ import annotations

import datetime as dt
import functools
from collections import Counter
from typing import Final

import structlog
from django.db.models import Q

from notifications.core import conf
from notifications.core.models import DeadLetter, ReplayJob
from notifications.core.operations import replay
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.store.postgres import alerts, dead_letters
from notifications.core.sweeps import loops
from notifications.core.sweeps.rounds import Swept

_WINDOW: Final = dt.timedelta(minutes=5)
_URGENT_COUNTED: Final = 1_000
"""The alert counts open dead letters of P0 and P1 up to this number."""

_POISON_NAMED: Final = 8
"""Deliveries that the alert about poison names: as many as its detail holds."""

_log = structlog.get_logger(__name__)

_REPLAY_JOBS: Final = 20
"""Number of open jobs processed in turn, oldest first."""
_MOST_REPLAY_JOBS: Final = 1_000
"""Most jobs of a run."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise or resolve the alerts; delete up to `limit` old dead letters. Safe at any time."""
    many = conf.current().dead_letters_alert
    fresh = DeadLetter.objects.filter(
        created_at__gte=now - _WINDOW, resolved_at=None, mode=Mode.LIVE
    )[: many + 1].count()
    if fresh > many:
        minutes = int(_WINDOW.total_seconds() / 60)
        detail = f"more than {many} deliveries gave up in {minutes} minutes; see dead letters"
        alerts.raise_once(AlertKind.DEAD_LETTERS_GROW, "", detail)
    else:
        alerts.resolve(AlertKind.DEAD_LETTERS_GROW, "")
    _alert_on_urgent()
    _alert_on_poison()
    return Swept(dead_letters.discard_older_than(conf.current().dead_letters_kept, limit=limit))


def _alert_on_urgent() -> None:
    """Raise an alert while dead letters of P0 or P1 are open."""
    urgent = DeadLetter.objects.filter(
        resolved_at=None, mode=Mode.LIVE, priority__lte=Priority.P1
    ).order_by("created_at")
    by_reason = Counter(urgent.values_list("reason", flat=True)[: _URGENT_COUNTED + 1])
    if not by_reason:
        alerts.resolve(AlertKind.URGENT_DEAD_LETTERS, "")
        return
    count = by_reason.total()
    said = f"more than {_URGENT_COUNTED}" if count > _URGENT_COUNTED else str(count)
    reasons = ", ".join(f"{reason} {times}" for reason, times in by_reason.most_common(5))
    detail = f"{said} open dead letters of P0 and P1 ({reasons}): replay or discard them"
    alerts.raise_once(AlertKind.URGENT_DEAD_LETTERS, "", detail)


def _alert_on_poison() -> None:
    """Raise an alert while live dead letters `poison` are open: each shows a bug."""
    letters = DeadLetter.objects.filter(
        resolved_at=None, mode=Mode.LIVE, reason=Reason.POISON
    ).order_by("created_at")
    found = list(letters.values_list("delivery_id", flat=True)[: _POISON_NAMED + 1])
    if not found:
        alerts.resolve(AlertKind.POISON, "")
        return
    named = ", ".join(str(each) for each in found[:_POISON_NAMED])
    more = " and more" if len(found) > _POISON_NAMED else ""
    alerts.raise_once(AlertKind.POISON, "", f"deliveries {named}{more}")


def replay_jobs(*, now: dt.datetime, limit: int) -> Swept:
    """Replay dead letters of open jobs, `limit` of each job at a time.

    Safe to run twice: dead letters are locked and closed. Several processes share a job. A dead
    letter with an exception leaves its job and stays open; a job with an exception stops no other
    job, and the next run tries the job again.
    """
    del now  # the age of a dead letter does not matter
    is_open = Q(finished_at=None) | Q(unassigned__isnull=False)
    jobs = ReplayJob.objects.filter(is_open).order_by("id")[:_MOST_REPLAY_JOBS]
    batch = functools.partial(_run_job, limit=limit)
    return loops.in_turn(jobs, batch, on_error=_log_error, at_once=_REPLAY_JOBS)


def _run_job(job: ReplayJob, *, limit: int) -> Swept:
    ran = replay.run(job, limit=limit)
    return Swept(ran.letters, ran.failed, more=ran.letters > 0 or ran.has_rest)


def _log_error(job: ReplayJob, _error: Exception) -> None:
    _log.exception("replay_job_failed", job=job.pk)
