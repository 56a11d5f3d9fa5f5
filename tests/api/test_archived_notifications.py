"""The 404 of a notification whose day left the database names the archive and the date."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock, conf
from notifications.core.models import ArchiveDay, ArchiveState
from notifications.core.rules import ids
from tests.api.conftest import Caller

_DAY = dt.timedelta(days=1)


def _detail(caller: Caller, day: dt.date) -> str:
    answer = caller.get(f"/v1/notifications/{ids.floor_of(day)}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    return str(answer.json()["detail"])


@pytest.mark.parametrize(
    ("state", "place"),
    [
        (ArchiveState.ARCHIVED, "archived since then"),
        (ArchiveState.NOT_ARCHIVED, "in no archive"),
        (ArchiveState.EXPIRED, "deleted from the archive"),
    ],
)
def test_the_answer_names_the_day_and_the_date_of_the_drop(
    caller: Caller, state: ArchiveState, place: str
) -> None:
    now = clock.now()
    day = now.date() - conf.current().retention - 2 * _DAY
    ArchiveDay.objects.create(day=day, state=state, dropped_at=now)
    detail = _detail(caller, day)
    assert f"notifications of {day} left the database on {now:%Y-%m-%d}" in detail
    assert place in detail


def test_other_days_answer_as_an_unknown_id(caller: Caller) -> None:
    today = clock.now().date()
    past = today - conf.current().retention - 2 * _DAY
    ArchiveDay.objects.create(day=past, state=ArchiveState.DROPPING)
    for day in (today, past, past - _DAY):
        assert _detail(caller, day) == "unknown notification"
