"""Ledgers of budgets: money is reserved before a call and settled with its outcome.

    reserve    before the calls of a wave: one short transaction that locks the ledgers
    settle     with the outcomes, in their transaction: ends reservations, locks no ledger
    apply      after that commit: adds differences to the ledgers, in one short statement
    settle_lost    the sweep: reservations that a killed process left

A reservation belongs to a delivery: a second reservation of the delivery replaces the first, and
the ledger of another day gets the money back. A reservation of a killed process stays in the ledger
until the rescue of the delivery, the next call, or the sweep; so a ledger never holds less than the
possible cost of the calls. Deliveries, reservations and ledgers are locked in this order, by id.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db import transaction

from notifications.core.models import BudgetReservation
from notifications.core.rules import ids
from notifications.core.rules.lane import LANES, Mode
from notifications.core.rules.rollups import Cube, DimensionSet, Step
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, partitions
from notifications.features.money.rules import Budget, Ledger, PricedCall, Shares, share_out

_COST_CUBE: Final = Cube(Step.MINUTE, DimensionSet.PRODUCER).number
_CALLED: Final = sorted({
    *(Status.SENT, Status.DELIVERED, Status.READ, Status.BOUNCED),
    *(Status.UNKNOWN, Status.UNCONFIRMED),
})
"""Statuses that a delivery reaches by a call alone."""
_LOST_AFTER: Final = dt.timedelta(minutes=2)
"""Twice the longest lease."""
_EXAMINED: Final = 20_000
"""Queued rows among which the rows of a budget are counted."""
_MOST: Final = 100_000
"""No wave settles as many calls."""


def reserve(
    asks: Sequence[PricedCall], *, token: UUID, budgets: Mapping[int, Budget], now: dt.datetime
) -> Shares:
    """Reserve the prices of calls that are about to begin.

    Safe to run twice: the second reservation of a delivery replaces the first. Safe to run late,
    after the lease: nothing is reserved for a delivery that another claim holds, and the delivery
    is in no part of the answer.

    Args:
        asks: the calls, each delivery once.
        token: the claim of the deliveries.
        budgets: the budgets of the calls, by id.
        now: the time, which decides the day.

    Raises:
        OperationalError: the database failed; nothing is reserved.
    """
    return db.in_transaction(lambda: _reserve(asks, token, budgets, now))


def _reserve(
    asks: Sequence[PricedCall], token: UUID, budgets: Mapping[int, Budget], now: dt.datetime
) -> Shares:
    back: Counter[int] = Counter()
    asking = {"ids": sorted(each.delivery_id for each in asks)}
    rows = db.rows("budget_take_back", {**asking, "token": token, "sending": Status.SENDING})
    for row in rows:
        back.update(dict.fromkeys(row["ledgers"] or (), row["change"]))
    ours = {row["id"] for row in rows}
    asks = [each for each in asks if each.delivery_id in ours]
    wanted = {each: budgets[each].day(now) for ask in asks for each in ask.budgets}
    starts = [budgets[each].start_of(day) for each, day in wanted.items()]
    ledgers = _lock(wanted, back, starts)
    before = {each.id: (each.used, each.refused) for each, _ in ledgers}
    for ledger, _ in ledgers:
        ledger.used += back[ledger.id]
    shares = share_out(asks, {each.budget_id: each for each, current in ledgers if current})
    changed = [each for each, _ in ledgers if before[each.id] != (each.used, each.refused)]
    prices = {each.delivery_id: each.micros for each in asks}
    db.run(
        "budget_reserve",
        {
            "ledger": [each.id for each in changed],
            "used": [each.used for each in changed],
            "refused": [each.refused for each in changed],
            "token": token,
            "ids": list(shares.granted),
            "micros": [prices[each] for each in shares.granted],
            "ledgers": [" ".join(map(str, each)) for each in shares.granted.values()],
        },
    )
    return shares


def _lock(
    wanted: Mapping[int, dt.date], others: Collection[int], starts: Sequence[dt.datetime]
) -> list[tuple[Ledger, bool]]:
    """Lock ledgers; True beside a ledger of a wanted budget and day. `starts`: of the days."""
    days = {"budgets": list(wanted), "days": list(wanted.values())}
    rows = db.rows("budget_ledgers", {**days, "ledgers": list(others)})
    if sum(row["is_current"] for row in rows) < len(wanted):
        opened = {**days, "starts": starts, "cube": _COST_CUBE, "live": Mode.LIVE}
        db.run("budget_open_days", opened)
        rows = db.rows("budget_ledgers", {**days, "ledgers": list(others)})
    return [(Ledger(**row), is_current) for row in rows for is_current in [row.pop("is_current")]]


def settle(prices: Mapping[UUID, int | None], *, token: UUID | None = None) -> Mapping[UUID, int]:
    """End the reservations of calls with an outcome; `apply` follows after the commit.

    Safe to run twice: a reservation ends once.

    Args:
        prices: delivery to the price of the call in microdollars; 0: the call failed; None: the
            reserved price.
        token: only reservations of this claim; None: of any claim.

    Returns:
        Delivery to final price, for the reservations that ended now.
    """
    if not prices:
        return {}
    found = db.rows(
        "budget_settle",
        {"ids": list(prices), "micros": list(prices.values()), "token": token},
    )
    pending = [row["delivery_id"] for row in found if row["is_pending"]]
    if pending:
        transaction.on_commit(lambda: apply(pending))
    return {row["delivery_id"]: row["micros"] for row in found}


def apply(delivery_ids: Iterable[UUID] | None = None, *, limit: int = _MOST) -> int:
    """Add settled prices to the ledgers; None: of all deliveries. Returns the reservations.

    Safe to run twice, late or never: the sweep `budgets` applies the rest of a killed process.
    """
    picked = None if delivery_ids is None else sorted(delivery_ids)
    [row] = db.fetch_in_own_transaction("budget_apply", {"ids": picked, "limit": limit})
    return int(row["applied"])


def settle_lost(*, limit: int) -> int:
    """Settle reservations of claims without an outcome; returns the number.

    A begun call may have sent the message, so the price counts as spent.
    """
    if not BudgetReservation.objects.filter(settled_micros=None).exists():
        return 0  # without the statement below, which is planned for all partitions
    oldest = next(iter(partitions.existing()), None)
    parameters = {
        "floor": ids.floor_of(oldest) if oldest else UUID(int=0),
        "age": _LOST_AFTER,
        "sending": Status.SENDING,
        "called": _CALLED,
        "limit": limit,
    }

    def work() -> int:
        rows = db.rows("budget_lost", parameters)
        settle({
            row["delivery_id"]: None if row["was_called"] and not row["was_refused"] else 0
            for row in rows
        })
        return len(rows)

    return db.in_transaction(work)


def hold(budgets: Mapping[UUID, int], *, token: UUID) -> None:
    """Store the budgets that hold rows of a claim."""
    parameters = {"ids": list(budgets), "budgets": list(budgets.values()), "token": token}
    db.fetch_in_own_transaction("set_budgets", parameters)


def holding() -> Iterable[int]:
    """Yield the ids of budgets with held deliveries, also of removed budgets."""
    after = 0
    while True:
        [row] = db.rows("budget_next_holding", {"scheduled": Status.SCHEDULED, "after": after})
        if row["budget"] is None:
            return
        after = row["budget"]
        yield after


def end_holds(budget_id: int, *, limit: int, grace: dt.timedelta) -> int:
    """Make up to `limit` held deliveries of a budget due; returns the number."""
    parameters = {
        "budget": budget_id,
        "scheduled": Status.SCHEDULED,
        "limit": limit,
        "grace": grace,
    }
    return len(db.fetch_in_own_transaction("end_budget_holds", parameters))


def count_queued(budget: Budget, *, limit: int) -> int:
    """Return the number of queued P2 and P3 deliveries that the budget has held, up to `limit`.

    Deliveries of others do not count: a campaign without this budget can fill the lanes for hours.
    Behind a long queue the number is too low. Then more rows are released than the money pays, and
    the reservation holds the rows again.
    """
    lanes = [each for each in LANES if each.mode is Mode.LIVE and not each.priority.is_urgent]
    parameters = {
        "queued": Status.QUEUED,
        "live": Mode.LIVE,
        "priorities": sorted({each.priority for each in lanes}),
        "channels": [budget.channel]
        if budget.channel
        else sorted({each.channel for each in lanes}),
        "budget": budget.id,
        "examined": _EXAMINED,
        "limit": limit,
    }
    [row] = db.rows("budget_queued", parameters)
    return int(row["queued"])
