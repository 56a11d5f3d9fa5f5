"""Every session has its settings, and a transaction pooler cannot lose them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.core import checks
from django.db import connection
from django.test import Client

from notifications.core.store.postgres import session_settings

pytestmark = pytest.mark.django_db


def test_a_session_that_asks_for_nothing_has_them_all() -> None:
    wanted = ("host", "port", "dbname", "user", "password")
    given: dict[str, Any] = connection.get_connection_params()
    with psycopg.connect(**{name: given[name] for name in wanted if name in given}) as bare:
        for name, value in session_settings.WANTED.items():
            assert bare.execute("SELECT current_setting(%s)", [name]).fetchone() == (value,)


def test_ours_send_no_settings_when_they_connect() -> None:
    assert "options" not in connection.get_connection_params()
    assert session_settings.missing() == {}


def test_a_session_without_them_is_told() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = 0")
    assert session_settings.missing() == {"lock_timeout": "0"}
    [warning] = checks.run_checks(tags=[checks.Tags.database], databases=["default"])
    assert (warning.id, "lock_timeout=0" in warning.msg) == ("notifications.W001", True)
    assert any("lock_timeout=0" in line for line in Client().get("/readyz").json()["wrong"])
