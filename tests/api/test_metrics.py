"""`/metrics` of a web process: queues, connections and HTTP requests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from notifications.core import clock, lanes
from notifications.core.models import Event, RollupPosition
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import LANES, Priority
from notifications.core.rules.reach import ReachResult
from notifications.core.rules.states import Status
from notifications.core.store.cached import paused_lanes, shared_answers
from notifications.core.store.postgres import alerts
from notifications.core.store.redis import state
from notifications.core.sweeps import service_levels
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from tests.sweeps.conftest import store_row

pytestmark = pytest.mark.django_db


def _scrape() -> Mapping[tuple[str, frozenset[tuple[str, str]]], float]:
    text = Client().get("/metrics").content.decode()
    return {
        (sample.name.removeprefix("notifications_"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _labels(**labels: str) -> frozenset[tuple[str, str]]:
    return frozenset(labels.items())


def test_the_messages_of_each_queue_are_counted() -> None:
    lane = next(each for each in LANES if each.name == "p3.chat")
    before = _scrape()
    assert {labels for name, labels in before if name == "queue_messages"} == {
        _labels(queue=name) for name in (*(each.name for each in LANES), "ops", "tell", "expand")
    }
    lanes.publish(lane, [[]])
    after = _scrape()
    queue = ("queue_messages", _labels(queue=lane.name))
    assert after[queue] == before[queue] + 1


def test_without_the_broker_only_its_metrics_are_missing(stack: Stack) -> None:
    stack.broker.kill()
    try:
        names = {name for name, _ in _scrape()}
    finally:
        stack.broker.start()
    assert "queue_messages" not in names
    assert {"database_up", "database_connections_limit"} <= names
    until(lambda: "queue_messages" in {name for name, _ in _scrape()}, what="the broker is back")


def test_connections_to_the_database_are_counted_by_state() -> None:
    scraped = _scrape()
    assert scraped["database_connections", _labels(state="active")] >= 1
    assert scraped["database_connections_limit", _labels()] >= 50


def test_paused_lanes_and_unreachable_deliveries_are_counted() -> None:
    shared_answers.forget()
    assert _scrape()["unreachable", _labels()] == 0
    store_row(due_at=None)
    alerts.raise_once(AlertKind.LANE_PAUSED, "p1.sms", "UndefinedColumn: quiet_hours")
    shared_answers.forget()
    paused_lanes.forget()
    scraped = _scrape()
    assert scraped["unreachable", _labels()] == 1
    paused = {labels for (name, labels), value in scraped.items() if name == "lane_paused" if value}
    assert paused == {_labels(lane="p1.sms")}


@pytest.mark.usefixtures("whole_tables")
def test_notifications_are_counted_by_their_result_over_all_channels() -> None:
    for status in (Status.DELIVERED, Status.DELIVERED, Status.FAILED):
        store_row(status, priority=Priority.P0, reason="retries_exhausted", due_at=None)
    service_levels.run_once(now=clock.now() + dt.timedelta(minutes=1), limit=100)
    scraped = _scrape()
    found = {labels: value for (name, labels), value in scraped.items() if name == "reach"}
    assert len(found) == len(Priority) * len(ReachResult)
    assert {labels: value for labels, value in found.items() if value} == {
        _labels(priority="P0", result="reached"): 2,
        _labels(priority="P0", result="failed"): 1,
    }


def test_without_a_count_the_reach_is_missing_and_not_zero() -> None:
    state.client().flushdb()
    assert "reach" not in {name for name, _ in _scrape()}


def test_the_age_of_what_the_roll_ups_do_not_count_is_there() -> None:
    assert _scrape()["rollups_behind_seconds", _labels()] == 0
    now = clock.now()
    RollupPosition.objects.update_or_create(id=1, defaults={"cluster": 1, "xid": 1})
    at = now - dt.timedelta(minutes=10)
    Event.objects.create(notification_id=ids.floor_of(now.date()), seq=1, reason="accepted", at=at)
    assert _scrape()["rollups_behind_seconds", _labels()] >= 600


def test_requests_are_timed_by_route_and_a_stranger_adds_no_label() -> None:
    def requests() -> dict[frozenset[tuple[str, str]], float]:
        return {
            labels: value
            for (name, labels), value in _scrape().items()
            if name == "http_request_seconds_count"
        }

    requests()
    before = requests()
    Client().get("/healthz")
    Client().get("/v1/notifications/some-private-id")
    Client().get("/no/such/place?token=1")
    Client().generic("BREW", "/no/such/pot")
    after = requests()
    grown = {dict(key)["route"]: dict(key) for key in after if after[key] > before.get(key, 0.0)}
    assert grown["healthz"] == {"method": "GET", "route": "healthz", "status": "2xx"}
    assert grown["other"]["status"] == "4xx"
    assert _labels(method="other", route="other", status="4xx") in after
    assert "private" not in str(after)
    assert "such" not in str(after)
    assert "token=1" not in str(after)
