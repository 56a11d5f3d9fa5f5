"""Overview tells the state of now, by JSON and without a reload, to those with the right."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from notifications.core import clock
from notifications.core.models import Alert, DeadLetter, SweepRun
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Priority
from notifications.core.rules.reach import Reach, ReachCounts, ReachResult
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.cached import shared_answers
from notifications.core.store.postgres import alerts, plot_annotations
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import reach, state
from notifications.core.sweeps import service_levels
from tests.admin.conftest import MakeDelivery
from tests.sweeps.conftest import store_row

LIVE = "/admin/live"


def figures(client: Client, **query: str) -> dict[str, Any]:
    shared_answers.forget()
    answer = client.get(LIVE, query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.django_db
def test_an_empty_service_says_how_to_send_the_first_message(door: Client) -> None:
    state.client().flushdb()  # a breaker that another test opened
    circuit_breakers.forget()
    parts = figures(door)["parts"]
    assert "send the first one" in parts["first"]
    assert "/v1/notifications" in parts["first"]
    assert "No alert is open" in parts["verdict"]


def test_a_held_delivery_is_told_with_lane_and_reason(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason=Reason.BREAKER)
    delivery.due_at = clock.now() + dt.timedelta(seconds=30)
    delivery.save()
    parts = figures(door)["parts"]
    assert "p2.email" in parts["waits"]
    assert "P2 email" in parts["verdict"]
    assert "1 delivery waits, the oldest since" in parts["verdict"]
    assert "The provider fails; calls are paused until a probe succeeds." in parts["verdict"]
    assert "0 minutes" not in parts["verdict"] + parts["waits"]
    assert "first one" not in parts["first"]


@pytest.mark.django_db
def test_an_alert_leads_to_its_page_and_to_the_runbook(door: Client) -> None:
    alerts.raise_once(AlertKind.BREAKER_OPEN, "smtp email", "5 failures <b>in a row</b>")
    part = figures(door)["parts"]["alerts"]
    assert f"/admin/notifications/alert/{Alert.objects.get().pk}/change/" in part
    assert "operations.html#breaker_open" in part
    assert "&lt;b&gt;" in part


def test_dead_letters_lead_into_the_filtered_list(
    door: Client, make_letters: Callable[[list[str]], list[DeadLetter]]
) -> None:
    make_letters(["permanent", "permanent", "ttl_exceeded"])
    part = figures(door)["parts"]["letters"]
    assert "?reason=permanent&amp;mode=1" in part
    assert "3 open" in part


@pytest.mark.django_db
@pytest.mark.usefixtures("whole_tables")
def test_the_share_of_people_whom_a_notification_reached_on_any_channel_is_on_overview(
    door: Client,
) -> None:
    state.client().flushdb()
    assert "No figure" in figures(door)["parts"]["reach"]
    later = clock.now() + dt.timedelta(minutes=1)
    service_levels.run_once(now=later, limit=100)
    assert "No notification of the last three days" in figures(door)["parts"]["reach"]
    for _ in range(30):
        store_row(Status.DELIVERED, priority=Priority.P0, due_at=None)
    service_levels.run_once(now=later, limit=100)
    part = figures(door)["parts"]["reach"]
    assert part.count("100.00%") == 2, "of P0 and of all"
    assert "nc-sign-bad" not in part
    for _ in range(10):
        store_row(Status.FAILED, priority=Priority.P1, reason="poison", due_at=None)
    service_levels.run_once(now=later, limit=100)
    part = figures(door)["parts"]["reach"]
    assert '<span class="nc-sign nc-sign-bad">75.00%</span>' in part
    assert "sample" not in part


@pytest.mark.django_db
def test_a_reach_of_a_sample_names_the_part_that_was_counted(door: Client) -> None:
    counts = ReachCounts({ReachResult.REACHED: 999, ReachResult.REJECTED: 1})
    reach.write(Reach(of={Priority.P2: counts}, recent=counts, percent=1.875))
    part = figures(door)["parts"]["reach"]
    assert "a sample of 1.9 %" in part
    assert "99.90%" in part


@pytest.mark.django_db
def test_a_deploy_is_an_annotation_of_the_plots(door: Client) -> None:
    plot_annotations.record_deploy("1.8.0")
    found = figures(door)
    assert [(each["kind"], each["label"]) for each in found["annotations"]] == [
        ("deploy", "Release 1.8.0")
    ]
    assert "Release 1.8.0" in found["parts"]["changes"]


@pytest.mark.django_db
def test_parts_need_the_right_to_view_their_model(client: Client) -> None:
    user = User.objects.create_user("night", is_staff=True)
    client.force_login(user)
    assert client.get(LIVE).status_code == 403
    user.user_permissions.set(Permission.objects.filter(codename="view_delivery"))
    plot_annotations.record_deploy("1.8.0")
    found = figures(client)
    assert {"verdict", "waits", "lanes", "changes"} <= set(found["parts"])
    assert not {"alerts", "letters", "providers"} & set(found["parts"])
    assert found["annotations"] == []


@pytest.mark.django_db
@pytest.mark.parametrize(("role", "status"), [("auditor", 200), ("operator", 200), ("editor", 403)])
def test_roles(client: Client, role: str, status: int) -> None:
    user = User.objects.create_user(role, is_staff=True)
    user.groups.add(Group.objects.get(name=f"role: {role}"))
    client.force_login(user)
    assert client.get(LIVE).status_code == status
    assert client.get("/admin/").status_code == 200


@pytest.mark.django_db
def test_an_unchanged_answer_has_no_body(door: Client) -> None:
    first = door.get(LIVE, {"range": "1h"})
    again = door.get(LIVE, {"range": "1h"}, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = door.get(LIVE, {"range": "6h"}, headers={"If-None-Match": first["ETag"]})
    assert other.status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query", ["range=2h", "from=yesterday", "from=2020-01-01T00:00Z&to=2026-01-01T00:00Z", "to=x"]
)
def test_a_wrong_range_is_refused_with_a_sentence(door: Client, query: str) -> None:
    answer = door.get(f"{LIVE}?{query}")
    assert answer.status_code == 400


@pytest.mark.django_db
def test_sweeps_and_partitions_are_on_the_page_system(door: Client, window: Client) -> None:
    SweepRun.objects.create(name="relay", started_at=clock.now(), moved=4)
    for client in (door, window):
        text = client.get("/admin/system/").content.decode()
        assert "relay" in text
        assert "Ahead of today" in text
