"""The plan of the roll-ups fits a page of many series that the statistics do not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.models import Notification
from notifications.core.rules import ids
from notifications.core.store.postgres import arrays, db, rollups
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

_SERIES: Final = 50
_COUNTED: Final = 40_000
"""Events of the day that the position has passed."""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _counted(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    """Write events of today that are counted; the statistics know them and no later event."""
    first = str(ids.floor_of(clock.now().date()))[:13]
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO event (notification_id, status, at)"
            " SELECT (%s || '-7000-8000-' || lpad(to_hex(n), 9, '0') || '000')::uuid, 2, now()"
            " FROM generate_series(1, %s) n",
            [first, _COUNTED],
        )
        running.execute("ANALYZE event")
    rollups.count_next(limit=1)


def _plan_of_the_next_page(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the plan, with the run time of each node, in the transaction of `count_next`."""
    plans: list[dict[str, Any]] = []
    rows = db.rows

    def explained(name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
        if name != "rollup_add":
            return rows(name, parameters)
        with db.cursor() as running:
            running.execute(
                f"EXPLAIN (ANALYZE, FORMAT JSON) {db.statement(name)}", arrays.bound(parameters)
            )
            [row] = running.fetchall()
        plans.append(row["QUERY PLAN"][0]["Plan"])
        return [{"events": _SERIES, "unnamed_values": 0}]

    monkeypatch.setattr(db, "rows", explained)
    assert rollups.count_next(limit=50_000).events == _SERIES
    [plan] = plans
    return plan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)


def test_no_series_of_a_page_is_compared_with_each_other_series(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in range(_SERIES):
        made = Notification.objects.filter(id=ids.notification_of(make_delivery()))
        made.update(type=f"T{place}")
    nodes = list(_nodes(_plan_of_the_next_page(monkeypatch)))
    compared = [
        node["Rows Removed by Join Filter"] * node["Actual Loops"]
        for node in nodes
        if node.get("Rows Removed by Join Filter")
    ]
    assert sum(compared) < 10 * _SERIES, compared
