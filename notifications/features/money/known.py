"""The budgets with their ledgers of the day, read once a second per process."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from notifications.core import clock
from notifications.core.models import Budget, BudgetDay
from notifications.core.store.cached.ttl_cache import Fresh
from notifications.features.money import rules as budgets
from notifications.features.money.rules import BudgetState
from providers.contract import Channel


@Fresh
def every() -> Mapping[int, budgets.Budget]:
    """Return the budgets by id."""
    return {each.budget.id: each.budget for each in read(now=clock.now())}


forget = every.forget


def read(*, now: dt.datetime) -> list[BudgetState]:
    """Read all budgets with the ledgers of their days at a time."""
    rows = {row.pk: row for row in Budget.objects.select_related("producer").order_by("pk")}
    rules = {key: _rule(row, now) for key, row in rows.items()}
    today = {key: rule.day(now) for key, rule in rules.items()}
    found = BudgetDay.objects.filter(budget__in=rows, day__in=set(today.values()))
    ledgers = {row.budget_id: row for row in found if row.day == today[row.budget_id]}
    return [
        _state(rule, ledgers.get(key), alert_percent=rows[key].alert_percent)
        for key, rule in rules.items()
    ]


def _rule(row: Budget, now: dt.datetime) -> budgets.Budget:
    return budgets.Budget(
        id=row.pk,
        name=str(row),
        producer_id=row.producer_id,
        channel=None if row.channel is None else Channel(row.channel),
        amount=row.amount_micros,
        is_hard=row.is_hard,
        timezone=row.timezone,
        read_at=now,
    )


def _state(rule: budgets.Budget, ledger: BudgetDay | None, *, alert_percent: int) -> BudgetState:
    if ledger is None:
        return BudgetState(rule, alert_percent)
    today = rule._replace(used=ledger.used_micros, refused=ledger.refused_micros)
    is_told = (ledger.nearly_spent_alert_at is not None, ledger.spent_alert_at is not None)
    return BudgetState(today, alert_percent, ledger.pk, *is_told)
