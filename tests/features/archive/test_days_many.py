"""The list of waiting days is cheap with a hundred days past retention."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.core import clock, conf
from notifications.core.models import ArchiveDay
from notifications.core.store.postgres import partitions, past_days
from tests.old_days import drop_day

_DAYS = 100


@pytest.mark.django_db(transaction=True)
def test_a_hundred_waiting_days_cost_two_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    latest = clock.now().date() - conf.current().retention - dt.timedelta(days=2)
    waiting = [latest - dt.timedelta(days=back) for back in reversed(range(_DAYS))]
    partitions.ensure(waiting[0], days=_DAYS - 1)
    ArchiveDay.objects.bulk_create(ArchiveDay(day=day) for day in waiting)
    read = partitions._parts
    reads: list[object] = []

    def counted() -> object:
        reads.append(read())
        return reads[-1]

    monkeypatch.setattr(partitions, "_parts", counted)
    try:
        with CaptureQueriesContext(connection) as queries:
            assert past_days.days_to_archive() == waiting
        assert (len(queries), len(reads)) == (1, 1)
    finally:
        for day in waiting:
            drop_day(day)
