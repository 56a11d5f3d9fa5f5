"""A batch of the release: which rows it takes, in which order, and when its commit is on disk."""

from __future__ import annotations

import datetime as dt
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection, transaction

from notifications.core import clock
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges
from notifications.core.sweeps import rounds
from providers.contract import Channel
from tests.sweeps.conftest import MakeRow, store_row

_SECOND = dt.timedelta(seconds=1)
_LIMIT = 2


def _taken(limit: int = _LIMIT) -> list[UUID]:
    """Return the rows of a batch; the caller has a transaction."""
    parameters: dict[str, Any] = {
        **id_ranges.current()[0],
        "status": Status.SCHEDULED,
        "mode": Mode.LIVE,
        "priority": Priority.P2,
        "channel": Channel.EMAIL,
        "grace": rounds.NO_GRACE,
        "limit": limit,
        "merged": rounds.MERGED,
        "digests_after": rounds.MERGED_FOR,
    }
    return [row["id"] for row in db.rows("due_for_release", parameters)]


def _due(seconds_ago: int, *, reason: str = "quiet_hours") -> dict[str, Any]:
    due_at = clock.now() - seconds_ago * _SECOND
    return {"due_at": due_at, "reason": reason, "channel": Channel.EMAIL}


@pytest.mark.django_db
@pytest.mark.parametrize("for_digests", [0, 1, 4 * _LIMIT, 9 * _LIMIT])
def test_rows_for_digests_hide_no_row_that_is_due_last(make_row: MakeRow, for_digests: int) -> None:
    for number in range(for_digests):
        make_row(Status.SCHEDULED, **_due(60 + number, reason="cap"))
    last, first = (make_row(Status.SCHEDULED, **_due(seconds)) for seconds in (1, 2))
    with transaction.atomic():
        assert _taken() == [first, last]
        assert set(_taken(limit=100)) == {first, last}


@pytest.mark.django_db
def test_the_longest_due_rows_are_taken_each_once(make_row: MakeRow) -> None:
    rows = [make_row(Status.SCHEDULED, **_due(seconds)) for seconds in (50, 40, 30, 20, 10)]
    with transaction.atomic():
        assert _taken(limit=3) == rows[:3]
        assert _taken(limit=50) == rows


@pytest.mark.django_db(transaction=True)
def test_a_batch_waits_neither_for_locked_rows_nor_for_the_disk() -> None:
    rows = [store_row(Status.SCHEDULED, **_due(seconds)) for seconds in (40, 30, 20, 10)]
    session = psycopg.connect(**connection.get_connection_params())
    with closing(session) as other, transaction.atomic(), connection.cursor() as running:
        other.execute("SELECT FROM delivery WHERE id = ANY(%s) FOR UPDATE", [rows[:2]])
        assert _taken() == rows[2:]
        running.execute("SHOW synchronous_commit")
        assert running.fetchone() == ("off",)
    with connection.cursor() as running:
        running.execute("SHOW synchronous_commit")
        assert running.fetchone() == ("on",)
