"""The condition of the sweep `budgets`: rows that are work, and rows that are none."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final
from uuid import uuid4

import pytest

from notifications.core import clock, sweeps
from notifications.core.models import (
    Alert,
    Budget,
    BudgetDay,
    BudgetReservation,
    ReceiptPrice,
)
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from tests.sweeps.conftest import store_row

pytestmark = pytest.mark.django_db

_HOUR: Final = dt.timedelta(hours=1)
_DAY: Final = dt.timedelta(days=1)


def _ledger(age: dt.timedelta) -> None:
    budget = Budget.objects.create(amount_micros=1)
    day = (clock.now() - age).astimezone(dt.UTC).date()
    BudgetDay.objects.create(budget=budget, day=day, used_micros=1)


def _reservation() -> None:
    BudgetReservation.objects.create(
        delivery_id=uuid4(), token=uuid4(), micros=1, ledgers=[1], created_at=clock.now()
    )


def _price(due_in: dt.timedelta) -> None:
    due_at = clock.now() + due_in
    ReceiptPrice.objects.create(
        delivery_id=uuid4(), provider="sandbox", micros=1, created_at=due_at, due_at=due_at
    )


def _alert(kind: AlertKind, *, is_open: bool = True) -> None:
    Alert.objects.create(kind=kind, resolved_at=None if is_open else clock.now())


def _held(*, by: Reason) -> None:
    store_row(Status.SCHEDULED, reason=by, budget_id=7, due_at=clock.now() + _HOUR)


_Rows = Callable[[], object]
_WORK: Final[dict[str, _Rows]] = {
    "a ledger of today": lambda: _ledger(dt.timedelta(0)),
    "a ledger of the zone's tomorrow": lambda: _ledger(-_DAY),
    "a ledger of the zone's yesterday": lambda: _ledger(_DAY),
    "a reservation": _reservation,
    "a price": lambda: _price(-_HOUR),
    "a nearly spent budget": lambda: _alert(AlertKind.BUDGET_NEARLY_SPENT),
    "a spent budget": lambda: _alert(AlertKind.BUDGET_SPENT),
    "a held row": lambda: _held(by=Reason.BUDGET),
}
_NO_WORK: Final[dict[str, _Rows]] = {
    "a budget without a ledger": lambda: Budget.objects.create(amount_micros=0),
    "an old ledger": lambda: _ledger(2 * _DAY),
    "a later price": lambda: _price(_HOUR),
    "another alert": lambda: _alert(AlertKind.BEAT_DEAD),
    "a resolved alert": lambda: _alert(AlertKind.BUDGET_SPENT, is_open=False),
    "a row of a cap": lambda: _held(by=Reason.CAP),
}


@pytest.mark.parametrize("what", _WORK)
def test_a_row_for_the_sweep_is_work(what: str) -> None:
    assert not sweeps.with_work(["budgets"])
    _WORK[what]()
    assert sweeps.with_work(["budgets"])


@pytest.mark.parametrize("what", _NO_WORK)
def test_another_row_is_no_work(what: str) -> None:
    _NO_WORK[what]()
    assert not sweeps.with_work(["budgets"])
