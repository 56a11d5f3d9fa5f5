"""Budgets: settle costs of receipts and killed processes, alert, and release deliveries.

A raise, softening or removal of a budget, and money back from failed calls, release held rows: as
many as the money pays, less the rows of the budget that are queued already, so the rows leave at
the pace of their lanes. At midnight the rows come due by themselves.

Each of the two alerts of a budget is raised once a day. The start of the next day, a raise or a
removal resolves the alert.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Final

from notifications.core.models import BudgetDay
from notifications.core.rules import prices
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts, id_ranges
from notifications.core.sweeps import rounds
from notifications.core.sweeps.rounds import Swept
from notifications.features.money import known as cached
from notifications.features.money import ledgers, receipt_prices
from notifications.features.money.rules import Budget, BudgetState

RAMP: Final = 5_000
"""Most rows of a budget that a run makes due."""
_TOLD: Final[Mapping[AlertKind, str]] = {
    AlertKind.BUDGET_NEARLY_SPENT: "nearly_spent_alert_at",
    AlertKind.BUDGET_SPENT: "spent_alert_at",
}
"""Alert -> the column with the time of the day's alert."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Settle up to `limit` lost reservations and costs, raise alerts, and release held rows.

    Safe to run twice, concurrently or late: a reservation is settled once, a row is made due once,
    and without any run the held rows come due on the next day.
    """
    settled = ledgers.settle_lost(limit=limit) + ledgers.apply(limit=limit)
    states = cached.read(now=now)
    costs = receipt_prices.settle(budgets=[each.budget for each in states], limit=limit)
    if costs:
        states = cached.read(now=now)  # the costs have changed the ledgers
    _alert(states, now=now)
    released = _release({each.budget.id: each.budget for each in states})
    if released:
        id_ranges.forget()  # a row of an older day is due now
    return Swept(settled + costs + released, more=costs >= limit)


def _release(known: Mapping[int, Budget]) -> int:
    """Make held rows due for which there is money; returns the number."""
    done = 0
    for budget_id in ledgers.holding():
        room = _room(known.get(budget_id))
        if room > 0:
            done += ledgers.end_holds(budget_id, limit=room, grace=rounds.retry_grace())
    return done


def _room(budget: Budget | None) -> int:
    """Return the number of rows that may be made due; all rows of a removed or soft budget."""
    if budget is None or not budget.is_hard:
        return RAMP
    if budget.is_spent:
        return 0
    paid = (budget.amount - budget.used) // max(budget.refused or 1, 1)
    most = min(RAMP, paid)
    return most - ledgers.count_queued(budget, limit=most) if most > 0 else 0


def _alert(states: Iterable[BudgetState], *, now: dt.datetime) -> None:
    open_now = {kind: alerts.open_subjects(kind) for kind in _TOLD}
    lasting: dict[AlertKind, set[str]] = {kind: set() for kind in _TOLD}
    for state in states:
        kind = _kind(state)
        if kind is None or state.ledger is None:
            continue
        lasting[kind].add(state.budget.name)
        is_told = (
            state.is_spent_told if kind is AlertKind.BUDGET_SPENT else state.is_nearly_spent_told
        )
        if not is_told:
            alerts.raise_once(kind, state.budget.name, _detail(state.budget))
            # A process that dies here raises the open alert again, which changes nothing.
            BudgetDay.objects.filter(pk=state.ledger).update(**{_TOLD[kind]: now})
    for kind, subjects in open_now.items():
        for subject in subjects - lasting[kind]:
            alerts.resolve(kind, subject)


def _kind(state: BudgetState) -> AlertKind | None:
    budget = state.budget
    if state.ledger is None:
        return None
    if budget.is_spent or budget.used >= max(budget.amount, 1):
        return AlertKind.BUDGET_SPENT
    if budget.used * 100 >= max(budget.amount, 1) * state.alert_percent:
        return AlertKind.BUDGET_NEARLY_SPENT
    return None


def _detail(budget: Budget) -> str:
    used, amount = prices.dollars(budget.used), prices.dollars(budget.amount)
    effect = "P2 and P3 wait, P0 and P1 go on" if budget.is_hard else "nothing is held"
    return f"{used} of {amount} of the day ({budget.timezone}) are used; above it {effect}"
