"""[backlog_cost] [partitions_cost] What grows with what waits, and with what is old: nothing may.

    backlog     CPU of a second's sweeps, which publish a thousand rows, with two million rows
                waiting in the lane and with two thousand
    partitions  time to settle one OTP with a sensitive variable, and to look up one receipt of
                somebody else's message, with 109 days of partitions and with 19

Both run the product's own code in this process, with no other process running.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Final
from uuid import UUID, uuid4

import redis
from django.db import connection

from celeryconfig import KEY_PREFIX
from notifications.core import clock, conf
from notifications.core.delivery import batch, routing, settle
from notifications.core.feedback import delivery_receipts
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.sensitive import Sensitive
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims, id_ranges, partitions, secret_variables
from notifications.core.sweeps import SWEEPS
from providers.contract import Accepted, Channel, Receipt, ReceiptKind, Result
from tests.benchmarks import costs, rows
from tests.benchmarks.figures import Figure, Paired, paired
from tests.benchmarks.stage import Stage
from tests.old_days import drop_day

_MANY: Final = 2_000_000
_FEW: Final = 2_000
_TICKS: Final = 15
_EACH_SECOND: Final = ("relay", "rescue", "recheck_unknown", "retry", "release", "ordering")
_FREE_MESSAGES: Final = 2
"""Room in the broker at each tick: a thousand rows."""
_BACKLOG_TARGET: Final = 1.5
_RECENT_DAYS: Final = 4
"""Those that a receipt may ask, in both cases."""
_OLD_DAYS: Final = 90
_CALLS: Final = 150
_PARTITIONS_TARGET: Final = 1.2
_LANE: Final = Lane(Mode.LIVE, Priority.P3, Channel.EMAIL)
_DAY: Final = dt.timedelta(days=1)


def measure_backlog(stage: Stage) -> Figure:
    """Measure the sweeps."""
    many = stage.size(_MANY)
    stage.run(())
    found = paired(
        ours=lambda: _tick_cost(stage, waiting=many),
        theirs=lambda: _tick_cost(stage, waiting=_FEW),
    )
    return Figure(
        name="backlog_cost",
        value=found.ours * 1000,
        unit=f"ms CPU a tick, {many:,} waiting",
        baseline=f"ms CPU a tick, {_FEW:,} waiting",
        baseline_value=found.theirs * 1000,
        ratio=found.ratio,
        target=f"<= {_BACKLOG_TARGET}x",
        met=found.ratio <= _BACKLOG_TARGET,
    )


def _tick_cost(stage: Stage, *, waiting: int) -> float:
    """CPU seconds of one tick, ours and Postgres's together."""
    stage.clear()
    with stage.database() as link:
        rows.write(link, waiting, priority=_LANE.priority, status=Status.QUEUED)
        link.execute("VACUUM ANALYZE delivery")
        link.execute("CHECKPOINT")
    meter = costs.Meter()
    with redis.Redis.from_url(stage.broker_url) as broker:
        _tick()  # connections and caches
        for _ in range(_TICKS):
            _make_room(broker)
            measured = {**stage.components(), "sweeps": os.getpid()}
            watched = {
                name: pid for name, pid in measured.items() if name in {"postgres", "sweeps"}
            }
            with costs.measured(watched, into=meter):
                _tick()
    stage.clear()
    return sum(meter.seconds.values()) / _TICKS


def _make_room(broker: redis.Redis) -> None:
    """Leave room for some messages."""
    broker.ltrim(
        f"{KEY_PREFIX}{_LANE.name}", 0, conf.current().broker_messages - _FREE_MESSAGES - 1
    )


def _tick() -> None:
    for name in _EACH_SECOND:
        SWEEPS[name].run_once(now=clock.now(), limit=SWEEPS[name].limit)


def measure_partitions(stage: Stage) -> Figure:
    """Measure one settle and one receipt."""
    stage.run(())
    stage.clear()
    today = clock.now().date()
    recent = [today - back * _DAY for back in range(1, _RECENT_DAYS + 1)]
    old = [recent[-1] - back * _DAY for back in range(1, _OLD_DAYS + 1)]
    receipts: dict[bool, list[float]] = {True: [], False: []}
    partitions.ensure(today)
    for day in recent:
        partitions.ensure(day, days=0)

    def with_history() -> float:
        for day in old:
            partitions.ensure(day, days=0)
        id_ranges.forget()
        receipts[True].append(_each(_foreign_receipt))
        return _settle_seconds(stage)

    def without() -> float:
        for day in old:
            drop_day(day)
        id_ranges.forget()
        receipts[False].append(_each(_foreign_receipt))
        return _settle_seconds(stage)

    try:
        without()
        found = paired(ours=with_history, theirs=without)
    finally:
        for day in (*old, *recent):
            drop_day(day)
    return _partitions_figure(found, receipts)


def _partitions_figure(found: Paired, receipts: Mapping[bool, Sequence[float]]) -> Figure:
    receipt = median(
        ours / theirs for ours, theirs in zip(receipts[True], receipts[False][1:], strict=True)
    )
    worst = max(found.ratio, receipt)
    return Figure(
        name="partitions_cost",
        value=found.ours * 1000,
        unit=f"ms to settle an OTP, {_OLD_DAYS + _RECENT_DAYS + 15} days",
        baseline=f"ms, {_RECENT_DAYS + 15} days",
        baseline_value=found.theirs * 1000,
        ratio=worst,
        target=f"<= {_PARTITIONS_TARGET}x",
        met=worst <= _PARTITIONS_TARGET,
        notes=(f"settle {found.ratio:.2f}x, receipt of a foreign message {receipt:.2f}x",),
    )


def _each(work: Callable[[], object]) -> float:
    """Seconds of one call, the median of many."""
    work()
    spent = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return median(spent)


def _foreign_receipt() -> None:
    stranger = Receipt(kind=ReceiptKind.DELIVERED, provider_message_id=uuid4().hex)
    delivery_receipts.record("sandbox", [stranger])


def _settle_seconds(stage: Stage) -> float:
    stage.clear()
    connection.close()  # a session keeps what it knows of partitions
    with stage.database() as link:
        secrets = secret_variables.encrypt(Sensitive({"code": "4711"}))
        codes = rows.write(
            link, _CALLS, priority=Priority.P0, status=Status.QUEUED, secrets=secrets
        )
    return median(_settled(each) for each in codes)


def _settled(delivery_id: UUID) -> float:
    claimed = batch.load(claims.claim([delivery_id], now=clock.now()))
    provider = routing.provider_named("sandbox")
    assert provider is not None
    claims.renew([delivery_id], token=claimed.token, provider="sandbox")
    accepted = Accepted(message_id=uuid4().hex)
    result = Result(delivery_id=delivery_id, outcome=accepted, latency=dt.timedelta(milliseconds=1))
    began = time.perf_counter()
    settle.settle(claimed, [(claimed.deliveries[0], result)], provider=provider)
    return time.perf_counter() - began
