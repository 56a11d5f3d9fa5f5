"""A commit that no synchronous standby confirmed is an error, never a success.

Each test runs on the tests' server with a standby that does not exist, and cancels the wait.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import OperationalError, connection, transaction

from notifications.core.store.postgres import db, db_errors
from notifications.core.store.postgres.backend.base import NotReplicatedError
from tests.standbys import standby_gone

pytestmark = pytest.mark.django_db(transaction=True)

_WRITE = "SELECT pg_logical_emit_message(true, 'test', '')"


def _in_a_block() -> None:
    with transaction.atomic(), db.cursor() as running:
        running.execute(_WRITE)


def _by_the_store() -> None:
    with db.errors, db.cursor() as running:
        running.execute(_WRITE)


def _by_django() -> None:
    with connection.cursor() as running:
        running.execute(_WRITE)


@pytest.mark.parametrize("write", [_in_a_block, _by_the_store, _by_django])
def test_a_cancelled_wait_is_an_error_of_the_database(write: Callable[[], None]) -> None:
    with standby_gone(), pytest.raises(OperationalError) as found:
        write()
    assert isinstance(found.value.__cause__, NotReplicatedError)
    assert db_errors.is_away(found.value)
    assert not db.is_undone(found.value)
    connection.close()


def test_a_session_that_ends_during_the_wait_is_an_error_of_the_database() -> None:
    with standby_gone("terminate"), pytest.raises(OperationalError) as found:
        _by_the_store()
    assert not db.is_undone(found.value)
    connection.close()


def test_the_next_statement_runs_in_a_new_session() -> None:
    with standby_gone(), pytest.raises(OperationalError):
        _by_the_store()
    _by_the_store()


def test_another_warning_is_no_error() -> None:
    with connection.cursor() as running:
        running.execute("DO $$ BEGIN RAISE WARNING 'canceling wait for synchronous'; END $$")
        running.execute("SELECT 1")
