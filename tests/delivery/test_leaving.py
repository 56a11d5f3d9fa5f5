"""While Postgres is away, a stopping worker leaves answers in the ledger to the rescue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import psycopg
import pytest
from django.db import OperationalError, connection

from notifications.core import stopping
from notifications.core.delivery import deliver, leaving, rescue
from notifications.core.rules.states import Status
from notifications.core.store.redis import sent_ledger
from providers.contract import Accepted, Message, Outcome
from tests.journey import Accept, lapse, status_and_reason, statuses, take_rows
from tests.providers.fakes import free_port
from tests.vendors import Scripted

pytestmark = pytest.mark.django_db(transaction=True)

Lose = Callable[[], None]


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lose]:
    """Return a function that takes Postgres away from the test's thread until the test ends it."""
    settings, port = connection.settings_dict, connection.settings_dict["PORT"]
    values = connection.get_connection_params()
    places = {name: values[name] for name in ("host", "port", "dbname", "user", "password")}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [session] = cursor.fetchone()

    def go_away() -> None:
        monkeypatch.setitem(settings, "PORT", free_port())
        with psycopg.connect(**places, autocommit=True) as link:
            link.execute("SELECT pg_terminate_backend(%s, 10000)", [session])

    yield go_away
    settings["PORT"] = port
    connection.close()


def _is_late(*, now: float) -> float:
    del now
    return leaving.WRITES_FOR


def _return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    connection.close()


def test_noted_answers_are_left_to_the_rescue(
    scripted: Scripted,
    take: Accept,
    lose: Lose,
    monkeypatch: pytest.MonkeyPatch,
    log_output: Callable[[], str],
) -> None:
    rows = take_rows(take, 3)

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        lose()
        monkeypatch.setattr(stopping, "seconds", _is_late)
        yield from ((each, Accepted(message_id="m")) for each in batch)

    scripted.answer = answer
    with suppress(OperationalError):
        deliver.deliver(rows)
    _return(monkeypatch)
    assert "outcomes_left_to_rescue" in log_output()
    assert statuses(rows) == [Status.SENDING] * 3
    rescue.rescue([lapse(row) for row in rows])
    assert {status_and_reason(row) for row in rows} == {(Status.SENT, "accepted_before_crash")}


def test_answers_that_the_ledger_does_not_take_are_written_until_postgres_is_back(
    scripted: Scripted, take: Accept, lose: Lose, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 3)
    tries: list[int] = []

    def refuse(entries: object) -> bool:
        del entries
        tries.append(1)
        if len(tries) == 2:
            monkeypatch.undo()  # Postgres is back
        return False

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        lose()
        monkeypatch.setattr(stopping, "seconds", _is_late)
        monkeypatch.setattr(sent_ledger, "add", refuse)
        yield from ((each, Accepted(message_id="m")) for each in batch)

    scripted.answer = answer
    deliver.deliver(rows)
    assert len(tries) == 2
    assert statuses(rows) == [Status.SENT] * 3
