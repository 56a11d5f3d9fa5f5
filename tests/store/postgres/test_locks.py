"""A lock that another transaction keeps is an error of Django, as of any other statement."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest
from django.db import OperationalError, connection, transaction

from notifications.core.store.postgres import db_errors, locks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    "wait", [locks.share_for_transaction, lambda name: locks.wait_for_transaction([name])]
)
def test_a_lock_that_is_kept_for_too_long_is_an_error_of_django(
    wait: Callable[[str], None],
) -> None:
    with closing(connection.copy()) as other, other.cursor() as holding:
        holding.execute("BEGIN")
        holding.execute("SELECT pg_advisory_xact_lock(%s, hashtext('name'))", [locks._CLASS])
        with transaction.atomic(), connection.cursor() as running:
            running.execute("SET LOCAL lock_timeout = '1ms'")
            with pytest.raises(OperationalError) as raised:
                wait("name")
            transaction.set_rollback(True)
    assert db_errors.is_lock_timeout(raised.value)
