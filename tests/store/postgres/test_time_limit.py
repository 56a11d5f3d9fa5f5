"""A slow statement ends at its limit, and the transaction around the block goes on."""

from __future__ import annotations

import pytest
from django.db import connection

from notifications.core.models import Producer
from notifications.core.store.postgres import time_limit


@pytest.mark.django_db
def test_a_slow_statement_is_cancelled_and_the_limit_ends_with_the_block() -> None:
    Producer.objects.create(name="before")
    with (
        pytest.raises(time_limit.TooSlow),
        time_limit.each_statement(milliseconds=20),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_sleep(60)")
    assert Producer.objects.filter(name="before").exists()
    with time_limit.each_statement(milliseconds=60_000), connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("1min",)
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() != ("1min",)
