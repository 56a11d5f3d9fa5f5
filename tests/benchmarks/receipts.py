"""[receipts] Provider receipts applied per second, compared with single-row ORM updates.

Ours applies lists of 100 `delivered` receipts as the receipts endpoint does. The baseline does the
same work per receipt as a simple service would: one guarded UPDATE and one timeline row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from providers.contract import Receipt, ReceiptKind
from tests.benchmarks import costs, rows
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_OURS: Final = 20_000
_THEIRS: Final = 2_000
_LIST: Final = 100
"""Receipts of a callback; vendors that send lists send up to a thousand."""
_TARGET: Final = 10.0
_PROVIDER: Final = "sandbox"


def measure(stage: Stage) -> Figure:
    """Measure both sides in interleaved pairs."""
    meter = costs.Meter()
    found = paired(ours=lambda: _ours(stage, meter), theirs=lambda: _theirs(stage))
    return Figure(
        name="receipts",
        value=found.ours,
        unit="receipts/s",
        baseline="receipts/s (single-row ORM updates)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.0f}x",
        met=found.ratio >= _TARGET,
        notes=(meter.each(PAIRS * _OURS),),
    )


def _ours(stage: Stage, meter: costs.Meter) -> float:
    from notifications.core.feedback import delivery_receipts  # noqa: PLC0415 - after Django is set up

    lists = list(_lists(_sent(stage, _OURS)))
    postgres = {"postgres": stage.components()["postgres"]}
    began, spent = time.perf_counter(), time.process_time()
    with costs.measured(postgres, into=meter):
        applied = sum(delivery_receipts.record(_PROVIDER, each) for each in lists)
    rate = _rate(applied, _OURS, began)
    meter.add({"web, without HTTP": time.process_time() - spent})
    return rate


def _theirs(stage: Stage) -> float:
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.models import Delivery, Event  # noqa: PLC0415 - after Django is set up
    from notifications.core.rules import ids  # noqa: PLC0415 - with the models

    deliveries = _sent(stage, _THEIRS)
    began = time.perf_counter()
    applied = 0
    for each in deliveries:
        now = clock.now()
        moved = Delivery.objects.filter(id=each, provider=_PROVIDER, status=Status.SENT).update(
            status=Status.DELIVERED, delivered_at=now
        )
        Event.objects.bulk_create([
            Event(
                notification_id=ids.notification_of(each),
                seq=-1 - applied,
                delivery_id=each,
                status=Status.DELIVERED,
                reason=Reason.RECEIPT_DELIVERED,
                at=now,
            )
        ])
        applied += moved
    return _rate(applied, _THEIRS, began)


def _sent(stage: Stage, count: int) -> Sequence[UUID]:
    stage.clear()
    with stage.database() as link:
        made = rows.write(link, count, priority=Priority.P2, status=Status.SENT)
        link.execute("UPDATE delivery SET provider = %s, due_at = NULL", [_PROVIDER])
        link.execute("ANALYZE delivery")
        link.commit()
    return made


def _lists(deliveries: Sequence[UUID]) -> Iterator[list[Receipt]]:
    for start in range(0, len(deliveries), _LIST):
        yield [
            Receipt(kind=ReceiptKind.DELIVERED, delivery_id=each)
            for each in deliveries[start : start + _LIST]
        ]


def _rate(applied: int, wanted: int, began: float) -> float:
    if applied != wanted:
        msg = f"{applied} of {wanted} receipts were applied"
        raise RuntimeError(msg)
    return applied / (time.perf_counter() - began)
