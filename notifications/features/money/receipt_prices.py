"""Costs settled by receipts: the provider's price or segments replace the estimated cost of a call.

    add       with the receipts of a callback: stores their prices and segments
    settle    the sweep `budgets`: stores the costs, and corrects the ledgers of the calls' days

A receipt can come before the outcome of its call is committed, so each price waits for the call:
the waits double, and a price without a call is deleted after a day. The first receipt with a price
settles a call; later receipts change nothing. An event `cost_settled` brings the difference into
the roll-ups, in the minute of the settlement.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.rules import prices
from notifications.core.rules.lane import Mode
from notifications.core.rules.reasons import Reason
from notifications.core.store.postgres import db
from notifications.features.money.rules import Budget
from providers.contract import Channel, Receipt

_UNNAMED_AFTER: Final = dt.timedelta(minutes=2)
"""Age of a receipt of an unknown message id that may be of a call without an answer: twice the
longest lease, so an accepted call has been stored."""
_ID_LENGTH: Final = 500
_LAST: Final = 2**128 - 1
_ACCEPTED: Final = "accepted"


class _Told(NamedTuple):
    """The price and the segments of a receipt."""

    delivery_id: UUID
    message_id: str
    segments: int | None
    micros: int | None


class _Settlement(NamedTuple):
    """A settled cost."""

    delivery_id: UUID
    number: int
    micros: int
    segments: int | None
    detail: str
    """For the timeline; empty if the figures stay."""


def add(provider: str, receipts: Iterable[tuple[Receipt, UUID]]) -> None:
    """Store prices and segments of a provider's receipts; joins an open transaction.

    Safe to run twice: a message has one row, and a settled call stays.

    Args:
        provider: the name of the provider.
        receipts: each receipt with the id of its delivery.
    """
    told: dict[tuple[UUID, str], _Told] = {}
    for receipt, delivery_id in receipts:
        segments = prices.possible_segments(receipt.segments)
        micros = prices.possible_micros(receipt.price_micros)
        if segments is None and micros is None:
            continue
        message_id = receipt.provider_message_id[:_ID_LENGTH]
        told.setdefault((delivery_id, message_id), _Told(delivery_id, message_id, segments, micros))
    if told:
        db.run("receipt_prices_add", {"provider": provider, **db.columns(list(told.values()))})


def settle(*, budgets: Sequence[Budget], limit: int) -> int:
    """Settle up to `limit` costs by stored prices; returns the settled calls.

    Safe to run twice or concurrently: a call is settled once, with its ledgers, in a transaction.
    Safe to run late: the prices wait.

    Args:
        budgets: all budgets.
        limit: most prices of a run.
    """
    return db.in_transaction(lambda: _settle(budgets, limit))


def _settle(budgets: Sequence[Budget], limit: int) -> int:
    rows = db.rows("receipt_prices_due", {"limit": limit, "unnamed_after": _UNNAMED_AFTER})
    if not rows:
        return 0
    ids = [row["delivery_id"] for row in rows]
    span = {"floor": min(ids), "ceiling": UUID(int=min(max(ids).int, _LAST - 1) + 1)}
    names = ("delivery_id", "provider", "message_id")
    keys = {name: [row[name] for row in rows] for name in names}
    old = [row["is_old"] for row in rows]
    known = {
        each["place"] - 1: each
        for each in db.rows("receipt_prices_calls", {**keys, "is_old": old, **span})
    }
    calls: dict[UUID, dict[str, Any]] = {}
    later = set()
    for place, call in known.items():
        row = {**rows[place], **call}
        if row["delivery_id"] in calls:
            later.add(place)  # one settlement of a delivery has one time
        elif _cost(row) is not None and not row["is_settled"]:
            calls[row["delivery_id"]] = row
    changed = _write([_settlement(each) for each in calls.values()], span)
    _correct([calls[each] for each in changed], budgets)
    done = [place in known and place not in later for place in range(len(rows))]
    db.run("receipt_prices_end", {**keys, "is_done": done})
    return len(changed)


def _cost(row: dict[str, Any]) -> int | None:
    return prices.settled_cost(
        row["cost_micros"],
        segments=row["known_segments"],
        told_micros=row["micros"],
        told_segments=row["segments"],
    )


def _settlement(row: dict[str, Any]) -> _Settlement:
    cost = _cost(row) or 0
    counted = row["cost_micros"] if row["outcome"] == _ACCEPTED else 0
    detail = f"{prices.dollars(cost)} instead of {prices.dollars(counted)}"
    return _Settlement(
        row["delivery_id"],
        row["number"],
        cost,
        row["segments"],
        detail if cost != counted else "",
    )


def _write(settled: Sequence[_Settlement], span: dict[str, UUID]) -> list[UUID]:
    """Store settled costs; returns the deliveries that no other process has settled."""
    if not settled:
        return []
    parameters = {**db.columns(settled), "reason": Reason.COST_SETTLED.value, **span}
    return [row["delivery_id"] for row in db.rows("settle_costs", parameters)]


def _correct(calls: Iterable[dict[str, Any]], budgets: Sequence[Budget]) -> None:
    """Add the differences to the ledgers of the days on which the calls count."""
    change: Counter[tuple[int, dt.date]] = Counter()
    for call in calls:
        if call["mode"] != Mode.LIVE:
            continue
        channel, difference = Channel(call["channel"]), (_cost(call) or 0) - call["cost_micros"]
        for budget in budgets:
            if budget.covers(producer_id=call["producer_id"], channel=channel):
                change[budget.id, budget.day(call["counted_at"])] += difference
    rows = [(*key, micros) for key, micros in change.items() if micros]
    if rows:
        names = ("budget", "day", "micros")
        db.run("budget_correct", dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
