"""A worker whose host's clock is wrong takes nothing from Postgres either."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from notifications.core import clock
from notifications.core.models import Delivery
from notifications.core.rules.states import Status
from notifications.core.store.postgres import host_clock
from notifications.core.tasks.deliver import SLOTS
from notifications.core.tasks.direct import Direct
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]  # a fixture of the store's tests


def test_direct_work_waits_for_a_clock_that_is_right(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_due = clock.now() - dt.timedelta(minutes=10)
    Delivery.objects.filter(id=make_delivery(Status.QUEUED)).update(due_at=long_due)
    SLOTS.limit(4, queues=["p2.email"])
    given: list[Callable[[], None]] = []
    direct = Direct(["p2.email"], slots=4, submit=given.append, busy=lambda: 0)
    direct.begin()
    true = clock.host
    try:
        clock.watch(limit=dt.timedelta(seconds=2))
        host_clock.compare()
        monkeypatch.setattr(clock, "host", lambda: true() + dt.timedelta(hours=2))
        assert direct.look() == 0
        monkeypatch.setattr(clock, "host", true)
        assert direct.look() == 1
    finally:
        clock.forget()
    assert len(given) == 1
