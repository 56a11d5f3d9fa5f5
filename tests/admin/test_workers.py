"""The page of the workers has due, claimed and held deliveries by lane."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock, conf
from notifications.core.models import Delivery
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import lane_work
from notifications.core.store.redis import live_processes, state
from notifications.core.store.redis.live_processes import LiveProcess
from tests.admin.conftest import MakeDelivery

PAGE = reverse("admin:notifications_workers")


def shown(door: Client) -> str:
    return " ".join(door.get(PAGE).content.decode().split())


def make(delivery: Delivery, **columns: object) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(**columns)


def test_an_idle_service_says_so(door: Client) -> None:
    page = shown(door)
    assert "No delivery is due" in page
    assert "No delivery waits." in page


def test_a_lane_has_due_and_claimed_deliveries_with_ages(
    door: Client, make_delivery: MakeDelivery
) -> None:
    due, sending = make_delivery(status=Status.QUEUED), make_delivery(status=Status.SENDING)
    now = clock.now()
    make(due, due_at=now - dt.timedelta(minutes=1))
    make(sending, due_at=now + dt.timedelta(minutes=1), call_started_at=now - dt.timedelta(hours=2))
    page = shown(door)
    assert "<td>p2.email</td>" in page
    assert 'data-label="due">1</td>' in page
    assert 'data-label="in flight">1</td>' in page
    assert 'data-label="oldest call">2 h 0 min</td>' in page or "1 h 59 min" in page


def test_a_p0_behind_a_breaker_is_marked(door: Client, make_delivery: MakeDelivery) -> None:
    later = clock.now() + dt.timedelta(minutes=1)
    urgent = make_delivery(status=Status.SCHEDULED, reason="breaker")
    make(urgent, due_at=later, priority=Priority.P0)
    patient = make_delivery(status=Status.SCHEDULED, reason="quiet_hours")
    make(patient, due_at=later)
    page = shown(door)
    assert '<td class="nc-bad">p0.email urgent</td>' in page
    assert "<td>p2.email</td>" in page
    assert "?reason=breaker&amp;channel=3&amp;priority=0" in page


def test_a_bounded_count_says_so(door: Client, make_delivery: MakeDelivery) -> None:
    for _ in range(3):
        waiting = make_delivery(status=Status.SCHEDULED, reason="cap")
        make(waiting, due_at=clock.now() + dt.timedelta(minutes=1))
    with patch.object(lane_work, "COUNTED", 2):
        assert 'data-label="deliveries">2+</td>' in shown(door)


@pytest.mark.parametrize("address", ["", "https://flower.example"])
def test_flower_is_linked_if_its_address_is_known(
    door: Client, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    configured = replace(conf.current(), flower_url=address)
    monkeypatch.setattr(conf, "current", lambda: configured)
    page = shown(door)
    assert ("Set NOTIFY_FLOWER_URL" in page) is not bool(address)
    assert f'<a href="{address}">Flower</a>' in page or not address


def test_who_may_not_view_deliveries_gets_no_page(db: None, django_user_model: object) -> None:  # noqa: ARG001 - asked for by name
    django_user_model.objects.create_user("nobody", password="x", is_staff=True)  # type: ignore[attr-defined]  # the user model
    client = Client()
    client.force_login(django_user_model.objects.get(username="nobody"))  # type: ignore[attr-defined]  # the user model
    assert client.get(PAGE).status_code == 403


def test_the_live_processes_have_their_connections(door: Client) -> None:
    state.client().flushdb()
    now = clock.now()
    process = LiveProcess(
        name="web-1:7",
        host="web-1",
        pid=7,
        started_at=now - dt.timedelta(hours=2, seconds=1),
        seen_at=now,
        connections=12,
        limit=12,
        recipients=9,
        is_stopping=False,
    )
    assert "NOTIFY_LIVE_URL is not set" in shown(door)
    live_processes.write(process)
    page = shown(door)
    assert "web-1:7" in page
    assert 'class="nc-num nc-bad" data-label="connections">12<' in page
    assert 'data-label="recipients">9<' in page
    assert "2 h 0 min" in page
