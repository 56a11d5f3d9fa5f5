"""Postgres's time in a test."""

from __future__ import annotations

import datetime as dt

from django.db import connection


def transaction_now() -> dt.datetime:
    """Return Postgres's now(), which stands still in the transaction of a test.

    Statements of the service compare with this time. `clock.now()` runs on, so a moment of a few
    seconds in the past must come from here, or a slow machine makes it a moment in the future.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        (found,) = cursor.fetchone() or (None,)
    assert isinstance(found, dt.datetime)
    return found
