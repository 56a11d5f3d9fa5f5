"""No statement of a sweep, a settle or a receipt reads what waits, or partitions it cannot need."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.figures import reach
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.transitions import ACCEPT
from notifications.core.store.postgres import arrays, db, id_ranges, rollups, transitions
from notifications.core.store.postgres.transitions import Move, UnderClaim
from providers.contract import Channel

_ROWS: Final = 40_000
_SECOND: Final = dt.timedelta(seconds=1)
_LANE: Final = {"mode": Mode.LIVE, "priority": Priority.P3, "channel": Channel.PUSH}
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _backlog() -> None:
    """Many rows of one lane, queued and due, all of today; the planner knows of them."""
    first = str(ids.floor_of(clock.now().date()))[:18]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO delivery (id, mode, priority, channel, status, recipient_id, contact_id,"
            " due_at, provider_message_id)"
            " SELECT (%s || '-8000-' || lpad(to_hex(n), 9, '0') || '001')::uuid, 1, 3, 1, %s, n, n,"
            " now() - interval '1 hour', md5(n::text) FROM generate_series(1, %s) n",
            [first[:13] + "-7000", Status.QUEUED, _ROWS],
        )
        cursor.execute("ANALYZE delivery")


def _plan(name: str, parameters: dict[str, Any]) -> str:
    with db.cursor() as running:
        running.execute(f"EXPLAIN {db.statement(name)}", arrays.bound(parameters))
        return "\n".join(row["QUERY PLAN"] for row in running.fetchall())


def _span() -> dict[str, UUID]:
    return id_ranges.last_days(1)


_RECEIPT: Final[dict[str, Any]] = {
    "places": [0],
    "recipients": [1],
    "modes": [1],
    "app_channels": [1, 4],
    "accepted": [Status.SENT],
}


def _asked() -> list[tuple[str, dict[str, Any], int]]:
    """Return statements with parameters and the permitted number of partitions of `delivery`."""
    lane, queued, span = _LANE, {"queued": Status.QUEUED}, _span()
    one = [ids.notification_id(at_ms=int(clock.now().timestamp() * 1000), entropy=1)]
    day = id_ranges.around(one)
    status = {"status": Status.SCHEDULED}
    caps = {"merged": ["cap", "digest"], "digests_after": _SECOND, "looked_at": 5_000}
    receipt = {"over": [1, 2, 4], "accepted": [5, 6], "sending": 3, "delivered": 7}
    return [
        ("lanes_due", {**id_ranges.LANE_COLUMNS, **span, **status, "within": -_SECOND}, 3),
        ("due", {**lane, **span, **status, "grace": _SECOND, "limit": 500}, 3),
        ("due_for_release", {**lane, **span, **status, "grace": _SECOND, **caps, "limit": 500}, 9),
        ("due_for_digests", {**lane, **span, **status, "grace": _SECOND, **caps, "limit": 500}, 6),
        ("failed_calls", {**day, **receipt, "provider": "x", "ids": one, "message_ids": ["x"]}, 3),
        ("due_now", {**queued, **span, "ids": one}, 3),
        (
            "backlog_lanes",
            {**id_ranges.LANE_COLUMNS, **span, "statuses": [2, 4], "counted": 10_000, "front": 64},
            3,
        ),
        ("waiting", {**id_ranges.LANE_COLUMNS, **span, "statuses": [2, 4], "counted": 1_000}, 3),
        (
            "wipe_secrets",
            {**day, "ids": one, "open": sorted(OPEN), "unconfirmed": [Status.SENT, Status.UNKNOWN]},
            1,
        ),
        ("never_left", {**day, "ids": one, "channels": [1], "never_left": [10, 11]}, 1),
        ("client_receipt_targets", {**day, "lows": one, "highs": one, **_RECEIPT}, 1),
        ("by_provider_message_id", {**id_ranges.last_days(3), "message_ids": ["x"]}, 5),
        (
            "deliveries_of",
            {**day, "ids": one, "scheduled": Status.SCHEDULED, "most": ids.MAX_DELIVERIES},
            1,
        ),
        *_asked_by_relay({**lane, **span, **queued}, {**span, "ids": one}),
        *_asked_by_alerts(span, day),
        *_asked_by_chains(day, one),
        *_asked_by_claims({**day, "ids": [*one, *one]}),
        ("budget_next_holding", {"scheduled": Status.SCHEDULED, "after": 0}, 30),
        ("rollup_add", {**rollups._PAGE, **day, "below": 9}, 1),
    ]


def _asked_by_relay(
    due: Mapping[str, Any], one: Mapping[str, Any]
) -> list[tuple[str, dict[str, Any], int]]:
    lost = {"older_than": _SECOND}
    return [
        ("lock_due", {**due, "rows": 500}, 3),
        ("count_due", {**due, "most": 12_000}, 3),
        ("publish", {**one}, 3),
        ("publish_again", {**due, **lost, "at": None, "limit": 20_000}, 3),
        ("publish_again", {**due, **lost, "at": clock.now(), "limit": None}, 3),
    ]


def _asked_by_claims(asked: Mapping[str, Any]) -> list[tuple[str, dict[str, Any], int]]:
    claim = {**asked, "token": UUID(int=1), "sending": 3, "leases": [_SECOND] * 4}
    return [
        ("claim_locked", claim, 1),
        ("renew", {**claim, "provider": "x"}, 1),
        ("notifications_of", {**asked, "digest": "x"}, 0),
        ("transition", _settled(2), 1),
    ]


def _settled(deliveries: int) -> dict[str, object]:
    at_ms = int(clock.now().timestamp() * 1000)
    made = [ids.notification_id(at_ms=at_ms, entropy=each) for each in range(deliveries)]
    moves = [Move(id=each, provider_message_id="x") for each in made]
    guard = UnderClaim(token=clock.new_claim_token())
    return transitions._parameters(ACCEPT, moves, guard, frozenset())


def _asked_by_alerts(
    span: Mapping[str, Any], day: Mapping[str, Any]
) -> list[tuple[str, dict[str, Any], int]]:
    lanes = {**id_ranges.LANE_COLUMNS, **span, "mode": Mode.LIVE}
    work = {"sweeps": ["expiry", "release"], "statuses": [2, 1], "within_seconds": [-15.0, 0.0]}
    held = {"scheduled": Status.SCHEDULED, "recipients": [1], "after": [UUID(int=0)], "page": 500}
    lately = {"unknown": Status.UNKNOWN, "most": 100, "closed_in": _SECOND}
    axes = {"priorities": [int(each) for each in Priority], "channels": [1, 2]}
    retrying = {**axes, "statuses": [Status.RETRYING], "ahead": _SECOND, "most": 100}
    pages = {"pages": 9, "partitions": ["notification"], "without_receipts": ["fcm"]}
    return [
        ("held_of_recipients", {**span, **held}, 3),
        ("work_due_rows", {**id_ranges.LANE_COLUMNS, **span, **work}, 3),
        ("reach", {**reach._PARAMETERS, **day, **pages, "recent": day["floor"]}, 1),
        ("unanswered_lately", {**lanes, **lately}, 3),
        ("backlog_depths", {**span, **retrying, "mode": Mode.LIVE}, 3),
    ]


def _asked_by_chains(
    day: Mapping[str, Any], one: Sequence[UUID]
) -> list[tuple[str, dict[str, Any], int]]:
    return [
        ("lock_deliveries", {**day, "ids": one}, 1),
        ("chain_lock", {**day, "ids": one, "only_chains": True}, 0),
        ("chain_lock", {**day, "ids": one, "only_chains": False}, 0),
        ("chain_busy", {**day, "ids": one}, 0),
        ("chain_members", {**day, "ids": one, "most": ids.MAX_DELIVERIES}, 1),
        ("chain_waiting", {**day, "ids": one, "waiting": sorted(OPEN)}, 1),
    ]


def test_no_plan_reads_all_that_waits_nor_a_partition_that_is_not_asked_for() -> None:
    today = f"Seq Scan on delivery_{clock.now():%Y%m%d} "  # an empty partition may be read so
    for name, parameters, most in _asked():
        plan = _plan(name, parameters)
        assert today not in plan, (name, plan)
        read = set(re.findall(r" on (delivery_[0-9]{8})", plan))
        assert len(read) <= most, (name, plan)
        if name.startswith(("chain_", "rollup_", "notifications_of")):
            assert len(set(re.findall(r" on (notification_[0-9]{8})", plan))) <= 1, (name, plan)


def test_a_transition_of_many_rows_does_not_compare_each_row_with_each() -> None:
    plan = _plan("transition", _settled(500))
    assert "Hash Cond: (w_1.id = d_2.id)" in plan, plan


def test_a_receipt_reads_the_attempts_of_its_delivery_alone_whatever_the_statistics_say() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE attempt")  # before the first call of the day
        cursor.execute(
            "INSERT INTO attempt (delivery_id, number, provider, outcome, started_at, latency_ms)"
            " SELECT id, 1, 'fcm', 'accepted', now(), 5 FROM delivery LIMIT 1000"
        )
    asked = {**_settled(500), "token": None, "claimed_at": None, "provider": "fcm"}
    plan = _plan("transition", asked)
    assert re.search(r"Index Cond: .*\(delivery_id = d\.id\)", plan), plan


@pytest.mark.parametrize("limit", [1, 50])
def test_a_search_for_a_message_id_reads_the_index_of_hashes(limit: int) -> None:
    parameters = arrays.bound({"message_id": "x", "limit": limit})
    with db.cursor() as running:
        running.execute(f"EXPLAIN {db.statement('search_message_id')}", parameters)
        plan = "\n".join(row["QUERY PLAN"] for row in running.fetchall())
    assert f"Seq Scan on delivery_{clock.now():%Y%m%d} " not in plan, plan
    assert "_pkey" not in plan, plan
    assert re.search("Index Cond: .*hashtextextended", plan), plan
