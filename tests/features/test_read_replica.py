"""Figures, lists and exports come from a real standby; what a caller has just written does not."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client, override_settings

from notifications.core import clock
from notifications.core.models import Alert, AuditEntry
from notifications.core.rules.rollups import Step
from notifications.core.rules.scopes import Scope
from notifications.core.store.cached import shared_answers
from notifications.core.store.postgres import audit, fallbacks, replica
from tests.admin.conftest import _quick_passwords, door, operator
from tests.api.conftest import Caller, MakeCaller, _fresh_state, caller, make_caller, maria
from tests.figures.conftest import MakeRollup, make_rollup
from tests.providers.fakes import free_port
from tests.read_replica import as_replica, delayed, standby, statements, used, wait_for_replay
from tests.standbys import Standby

__all__ = ["_fresh_state", "_quick_passwords", "caller", "make_caller", "make_rollup", "standby"]
__all__ += ["door", "maria", "operator", "used"]

pytestmark = pytest.mark.django_db(transaction=True)

_AUDIT = "/admin/notifications/auditentry/"
_UNREACHABLE = f"postgresql://nobody@127.0.0.1:{free_port()}/notify"


@pytest.fixture
def behind(used: Standby, monkeypatch: pytest.MonkeyPatch) -> Standby:
    """The standby in use, which may be behind for as long as the test takes."""
    monkeypatch.setattr(replica, "MOST_LAG", dt.timedelta(hours=1))
    return used


def _total(caller: Caller, **query: str) -> list[float]:
    answer = caller.get("/v1/analytics", metric="sent", step="total", **query)
    assert answer.status_code == 200, answer.content
    return [each["total"] for each in answer.json()["groups"]]


def test_the_figures_of_the_api_are_those_of_the_replica(
    behind: Standby, caller: Caller, make_rollup: MakeRollup
) -> None:
    now, of = Step.HOUR.floor(clock.now()), {"producer_id": caller.producer.pk}
    make_rollup(now, {"sent": 2}, **of)
    wait_for_replay(behind)
    with delayed(behind):
        make_rollup(now - dt.timedelta(hours=1), {"sent": 3}, **of)
        assert _total(caller) == [2]
        lines = caller.get("/v1/analytics", metric="sent", step="total", format="csv")
        assert lines.content.decode().split() == ["sent", "2"]
    assert _total(caller) == [5]


def test_the_costs_are_those_of_the_replica(behind: Standby, make_caller: MakeCaller) -> None:
    reader = make_caller(scopes=[Scope.OPERATIONS_READ])
    wait_for_replay(behind)
    assert reader.get("/v1/costs").status_code == 200
    assert any("rollup" in each for each in statements(behind))


@pytest.mark.usefixtures("maria")
def test_a_message_can_be_read_at_once(behind: Standby, caller: Caller) -> None:
    with delayed(behind):
        body = {"user_id": "maria", "type": "ORDER", "priority": "P2", "channels": ["sms"]}
        made = caller.post("/v1/notifications", {**body, "content": {"body": "Hello"}})
        assert made.status_code == 202, made.content
        assert caller.get(f"/v1/notifications/{made.json()['notification_id']}").status_code == 200


def test_a_list_comes_from_the_replica_and_shows_own_changes(
    behind: Standby, operator: User
) -> None:
    with override_settings(MIDDLEWARE=[*settings.MIDDLEWARE, _OWN_WRITES]):
        writer, reader = Client(), Client()
        writer.force_login(operator)
        reader.force_login(operator)
        audit.record_about("somebody", "old_entry", object_type="list", name="x", after={})
        wait_for_replay(behind)
        with delayed(behind):
            form = {"name": "ORDER", "priority": 1, "category": "orders"}
            path = "/admin/notifications/notificationtype/"
            assert writer.post(f"{path}add/", form).status_code == 302
            assert writer.cookies["wrote"]["max-age"] == 15
            old, new = b"old_entry", b"add_notificationtype"
            assert _has(writer.get(_AUDIT).content, old, new) == (True, True)
            assert _has(reader.get(_AUDIT).content, old, new) == (True, False)
            assert "wrote" not in reader.cookies
            exported = _export(reader)
            assert _has(exported, old, new) == (True, False)
            assert _has(_export(writer), old, new) == (True, True)


def test_activity_and_its_export_come_from_the_replica(behind: Standby, door: Client) -> None:
    for query in ("", "?export=csv"):
        before = statements(behind)
        answer = door.get(f"/admin/notifications/notification/activity/{query}")
        assert answer.status_code == 200
        assert b"".join(answer) if query else answer.content
        found = statements(behind)
        assert any("delivery" in each for each in found), (before, found)


def test_insights_come_from_the_replica(behind: Standby, door: Client) -> None:
    shared_answers.forget()
    assert door.get("/admin/insights/live").status_code == 200
    assert any("rollup" in each for each in statements(behind))


def test_a_replica_that_is_away_is_told_and_nothing_else_changes(
    caller: Caller, make_rollup: MakeRollup, later: Callable[[dt.timedelta], None]
) -> None:
    make_rollup(clock.now(), {"sent": 2}, producer_id=caller.producer.pk)
    with as_replica(_UNREACHABLE):
        assert _total(caller) == [2]
        watch = fallbacks.FallbackWatch("web@host", [fallbacks.REPLICA])
        watch.look()
        later(fallbacks.PATIENCE)
        watch.look()
        [alert] = Alert.objects.filter(resolved_at=None, kind="replica_left")
        assert alert.subject == "web@host"
        assert alert.detail.startswith("the read replica does not answer (since ")
        assert any("the read replica does not answer" in each for each in _readyz()["wrong"])
        told = Client().get("/metrics").content.decode()
        assert 'notifications_processes_without{server="replica"} 1.0' in told


def _readyz() -> dict[str, Any]:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    "command",
    [["migrate", "--check"], ["check", "--database", "default"], ["makemigrations", "--check"]],
)
def test_no_command_of_an_upgrade_needs_the_replica(command: list[str]) -> None:
    server = os.environ["DATABASE_URL"].rpartition("/")[0]
    urls = {
        "DATABASE_URL": f"{server}/{connection.settings_dict['NAME']}",
        "DATABASE_REPLICA_URL": _UNREACHABLE,
    }
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        env=os.environ | urls,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout


_OWN_WRITES = "notifyproj.pages.OwnWrites"


def _has(text: bytes, *words: bytes) -> tuple[bool, ...]:
    return tuple(each in text for each in words)


def _export(client: Client) -> bytes:
    first = AuditEntry.objects.order_by("pk").values_list("pk", flat=True)[0]
    form = {"action": "export_csv", "_selected_action": [first], "select_across": 1}
    return b"".join(client.post(_AUDIT, form))
