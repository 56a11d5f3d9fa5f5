"""Every session has its settings, and a transaction pooler cannot lose them."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.core import checks
from django.db import DataError, connection, transaction
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("client_min_messages", "error"), ("synchronous_commit", "local")],
)
def test_a_session_that_could_lose_a_commit_is_told(name: str, value: str) -> None:
    _set_here(name, value)
    assert session_settings.missing() == {name: value}
    assert any(f"{name}={value}" in line for line in Client().get("/readyz").json()["wrong"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("client_min_messages", "warning"), ("synchronous_commit", "remote_apply")],
)
def test_a_value_that_an_operator_chose_stays(name: str, value: str) -> None:
    _set_here(name, value)
    session_settings.store()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        assert cursor.fetchone() == (value,)


def test_migrate_stores_what_is_missing_at_the_role() -> None:
    _set_here("client_min_messages", "error")
    session_settings.store()
    assert session_settings.missing() == {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT unnest(setconfig) FROM pg_db_role_setting")
        assert ("client_min_messages=notice",) in cursor.fetchall()


def _set_here(name: str, value: str) -> None:
    """Set a value for the transaction of the test."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [name, value])


def test_a_setting_that_the_server_refuses_is_an_error_of_django(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_settings, "WANTED", {"lock_timeout": "soon"})
    with pytest.raises(DataError, match="soon"), transaction.atomic():
        session_settings.store()
