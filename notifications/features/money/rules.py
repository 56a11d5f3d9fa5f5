"""Budgets: the highest cost of the messages of a day, overall or of a producer.

A call counts in every budget of the producer and channel. A call reserves the price in a ledger per
budget and day before the start. Above a hard budget P0 and P1 go on, P2 waits, and P3 waits or goes
by e-mail. A budget that is not hard raises alerts only.

A day is a calendar day of the budget's timezone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from notifications.core.rules.times import local_time
from providers.contract import Channel


class Budget(NamedTuple):
    """A budget, and the ledger of the current day as of the last second."""

    id: int
    name: str
    producer_id: int | None
    """None: all producers together."""
    channel: Channel | None
    """None: all channels together."""
    amount: int
    """Microdollars a day."""
    is_hard: bool
    timezone: str
    read_at: dt.datetime
    """The time that decided which day is the current one."""
    used: int = 0
    """Microdollars reserved and spent today."""
    refused: int | None = None
    """Price of the last call that the budget refused today; None: no refusal."""

    def covers(self, *, producer_id: int, channel: Channel) -> bool:
        """Return True if a call of the producer on the channel counts in the budget."""
        return self.producer_id in {None, producer_id} and self.channel in {None, channel}

    @property
    def is_spent(self) -> bool:
        """Return True if a call with the price of the last refused call is refused again."""
        is_over = self.refused is not None and self.amount - self.used < max(self.refused, 1)
        return self.is_hard and is_over

    def day(self, now: dt.datetime) -> dt.date:
        """Return the budget's day at a time."""
        return now.astimezone(local_time.zone(self.timezone)).date()

    def start_of(self, day: dt.date) -> dt.datetime:
        """Return the start of a day of the budget, in UTC."""
        start = dt.datetime.combine(day, dt.time(), tzinfo=local_time.zone(self.timezone))
        return start.astimezone(dt.UTC)

    def next_day(self, now: dt.datetime) -> dt.datetime:
        """Return the start of the budget's next day, in UTC."""
        return self.start_of(self.day(now) + dt.timedelta(days=1))


class BudgetState(NamedTuple):
    """A budget with the state of the alerts of the current day."""

    budget: Budget
    alert_percent: int
    ledger: int | None = None
    """Id of the day's ledger; None: no call has been counted today."""
    is_nearly_spent_told: bool = False
    is_spent_told: bool = False


class PricedCall(NamedTuple):
    """A call before the start."""

    delivery_id: UUID
    micros: int
    budgets: Sequence[int]
    """Ids of the budgets in which the call counts."""
    is_limited: bool
    """False for P0 and P1, which go on above a hard budget."""


@dataclass(slots=True)
class Ledger:
    """The locked ledger of a budget and a day."""

    id: int
    budget_id: int
    used: int
    amount: int
    is_hard: bool
    refused: int | None = None


@dataclass(slots=True)
class Shares:
    """The answer to requests for money."""

    granted: dict[UUID, list[int]] = field(default_factory=dict)
    """Delivery -> ids of the ledgers that have reserved its price."""
    refused: dict[UUID, int] = field(default_factory=dict)
    """Delivery -> id of the spent budget."""


def share_out(asks: Iterable[PricedCall], ledgers: Mapping[int, Ledger]) -> Shares:
    """Reserve the prices of calls in order, as far as the budgets last; changes the ledgers.

    Args:
        asks: the calls, each once.
        ledgers: by budget; a missing budget has been removed and limits nothing.
    """
    shares = Shares()
    for ask in asks:
        own = [ledgers[each] for each in ask.budgets if each in ledgers]
        short = next(
            (each for each in own if each.is_hard and each.used + ask.micros > each.amount), None
        )
        if short and ask.is_limited:
            short.refused = ask.micros
            shares.refused[ask.delivery_id] = short.budget_id
            continue
        for each in own:
            each.used += ask.micros
        shares.granted[ask.delivery_id] = [each.id for each in own]
    return shares
