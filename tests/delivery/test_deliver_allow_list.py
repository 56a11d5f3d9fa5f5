"""Environments that may not reach everybody, or nobody at all."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from notifications.core import conf
from notifications.core.delivery import deliver
from notifications.core.models import Attempt, Delivery, Event
from notifications.core.rules.allowed import AllowList
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
SetUp = Callable[..., None]


@pytest.fixture
def set_up(monkeypatch: pytest.MonkeyPatch) -> SetUp:
    """Change this environment's settings."""

    def change(**settings: object) -> None:
        changed = dataclasses.replace(conf.current(), **settings)  # type: ignore[arg-type]  # by name
        monkeypatch.setattr(conf, "current", lambda: changed)

    return change


def test_in_a_dry_run_everything_happens_and_nothing_leaves(
    reach: Reach, take: Accept, outbox: Outbox, set_up: SetUp
) -> None:
    set_up(dry_run=True)
    reach(email="maria+400@sandbox.example")
    [row] = deliveries_of(take())
    assert deliver.deliver([row.id]) == []
    sent = Delivery.objects.get(id=row.id)
    assert (sent.status, sent.provider) == (Status.SENT, "dry_run")
    [call] = Attempt.objects.filter(delivery_id=row.id)
    assert (call.provider, call.outcome) == ("dry_run", "accepted")
    assert outbox(row.id) == []


def test_who_is_not_on_the_list_is_suppressed_with_an_event(
    reach: Reach, take: Accept, outbox: Outbox, set_up: SetUp
) -> None:
    set_up(allowed=AllowList.of(["@shop.example"]))
    reach("ours", email="tester@shop.example")
    reach("maria", email="maria@sandbox.example")
    ours, theirs = (deliveries_of(take(user_id=user))[0] for user in ("ours", "maria"))
    deliver.deliver([ours.id, theirs.id])
    assert Delivery.objects.get(id=ours.id).status == Status.SENT
    stopped = Delivery.objects.get(id=theirs.id)
    assert (stopped.status, stopped.reason) == (Status.SUPPRESSED, "not_allowed")
    told = Event.objects.filter(delivery_id=theirs.id, status=Status.SUPPRESSED)
    assert [each.reason for each in told] == ["not_allowed"]
    assert outbox(theirs.id) == []


def test_test_keys_go_to_the_sandbox_whatever_the_environment(
    reach: Reach, take: Accept, outbox: Outbox, set_up: SetUp
) -> None:
    set_up(dry_run=True, allowed=AllowList.of(["nobody"]))
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    Delivery.objects.filter(id=row.id).update(mode=Mode.TEST)
    deliver.deliver([row.id])
    assert Attempt.objects.get(delivery_id=row.id).provider == "sandbox"
    assert len(outbox(row.id)) == 1
