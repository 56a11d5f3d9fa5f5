"""Sweeps of series that are killed at random send each step of each enrolment exactly once.

Two processes continue the enrolments of one series, and each gets SIGKILL after a random time; then
two new processes go on. Meanwhile each wait of a minute ends at once.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from functools import partial
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import Delivery, Notification, Recipient
from notifications.core.store.postgres import partitions
from notifications.features.series.models import SeriesEnrolment, SeriesStepResult
from notifyproj.devstack.demo.environment import pause, until
from tests import expander_processes
from tests.features.series.conftest import MakeSeries, enrol, make, send
from tests.journey import caller, reach

__all__ = ["caller", "make", "reach"]

_COUNT: Final = 300
_ROUNDS: Final = 6
"""Rounds with a kill of each of both processes."""
_BATCH: Final = 10
"""Enrolments: small batches, so that a kill comes at each stage of a batch."""
_SENT: Final = ("one", "two", "three")
_LINES: Final = 6
"""Results of steps of an enrolment: three messages, two waits and a condition."""
_LONGEST_PAUSE: Final = 0.05
"""Seconds from some progress to a kill."""


def _database_url() -> str:
    url = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(url._replace(path=f"/{connection.settings_dict['NAME']}"))


def _end_waits() -> None:
    with connection.cursor() as running:
        running.execute(
            "UPDATE series_enrolment SET due_at = now(), arrived_at = arrived_at - interval '1 min'"
            " WHERE due_at > now()"
        )


def _has_lines(count: int) -> bool:
    _end_waits()
    return SeriesStepResult.objects.count() >= count


@pytest.mark.django_db(transaction=True)
def test_twelve_kills_leave_each_step_of_each_enrolment_sent_once(make: MakeSeries) -> None:
    partitions.ensure(clock.now().date(), days=1)
    with connection.cursor() as running:
        running.execute(expander_processes.PEOPLE, [_COUNT])
    wait = {"step": "wait", "minutes": 1}
    asked = {"message": "one", "status": "read"}
    branch = {"step": "condition", "if": asked, "then": [send("never")], "else": [send("two")]}
    series = make(send("one"), wait, branch, wait, send("three"))
    enrol(series, *Recipient.objects.values_list("user_id", flat=True))
    total = _COUNT * _LINES
    with expander_processes.expanders(
        database_url=_database_url(), page=_BATCH, sweep="series"
    ) as processes:
        for number in range(_ROUNDS):
            pids = processes.start()
            enough = total * (number + 1) // (_ROUNDS + 2)
            until(partial(_has_lines, enough), what="progress")
            for pid in pids:
                pause(clock.jitter() * _LONGEST_PAUSE)
                os.kill(pid, signal.SIGKILL)
        assert 0 < SeriesStepResult.objects.count() < total  # the kills came in the middle
        processes.start()
        until(partial(_has_lines, total), what="each step has run")
    assert SeriesEnrolment.objects.filter(state="finished").count() == _COUNT
    assert SeriesStepResult.objects.count() == total
    sent = Counter(
        (each.recipient_id, each.metadata["series_step"]) for each in Notification.objects.all()
    )
    people = Recipient.objects.values_list("id", flat=True)
    assert sent == Counter((person, step) for person in people for step in _SENT)
    assert Delivery.objects.count() == len(sent)
    told = SeriesStepResult.objects.filter(outcome="sent").values_list("notification_id", flat=True)
    assert set(told) == set(Notification.objects.values_list("id", flat=True))
