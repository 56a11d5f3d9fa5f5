"""Budgets: hold P2 and P3 after the money of the day is spent.

    hold_without_money    before the providers are chosen: budgets that are known to be spent
    reserve               before each wave of calls: reserves the exact prices
    settle                with the outcomes of the calls

`hold_without_money` reads a cache and spares spent budgets the slots of providers; `reserve` is
exact (`features.money.ledgers`). A P3 text message goes by e-mail if the message and the recipient
allow it (`by_email`). Another held row is due at the start of the budget's next day; the sweep
`budgets` brings rows forward when there is money again. A channel without a budget and without a
price costs no query. Deliveries in test mode have no budget.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from notifications.core import conf
from notifications.core.delivery import call_prices
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules import prices
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.times import deferral
from notifications.core.rules.transitions import HOLD
from notifications.features.money import by_email, ledgers
from notifications.features.money import known as cached
from notifications.features.money.rules import Budget, PricedCall
from providers.contract import Accepted, Channel, Result, Unanswered

_SHORTEST: Final = dt.timedelta(seconds=1)
"""Shortest hold, for a time to live that ends now."""
Held = tuple[ClaimedDelivery, Budget]
"""A delivery and the spent budget that holds it."""
Pair = tuple[ClaimedDelivery, Result]


def hold_without_money(batch: Batch) -> None:
    """Hold P2 and P3 of a batch with a budget that is known to be spent."""
    spent = [each for each in cached.every().values() if each.is_spent]
    if not spent:
        return
    held: list[Held] = []
    for claimed in batch.deliveries:
        budget = next((each for each in spent if _counts(claimed, each)), None)
        if budget and not claimed.delivery.priority.is_urgent:
            held.append((claimed, budget))
    # Not the time of the batch: after midnight it would add a day to a state of the day before.
    _hold(batch, held, now=spent[0].read_at)


def reserve(
    batch: Batch, deliveries: Sequence[ClaimedDelivery], *, provider: str
) -> Sequence[ClaimedDelivery]:
    """Reserve the prices of calls, and hold deliveries without money; returns the others.

    A delivery that another claim holds by now is left out.

    Raises:
        OperationalError: the database failed; no call may begin.
    """
    known, now = cached.every(), batch.now
    for claimed in deliveries:
        claimed.reserved_under = claimed.reserved = claimed.reserved_at = None
    asks = []
    for claimed, ask in _asks(deliveries, known, provider=provider) if known else ():
        asks.append(ask)
        claimed.reserved_under, claimed.reserved = batch.token, ask.micros
        claimed.reserved_at = now
    if not asks:
        return deliveries
    shares = ledgers.reserve(asks, token=batch.token, budgets=known, now=now)
    unpaid = {each.delivery_id for each in asks} - shares.granted.keys()
    if not unpaid:
        return deliveries
    for claimed in deliveries:
        if claimed.delivery.id in unpaid:
            claimed.reserved_under = claimed.reserved = claimed.reserved_at = None
    refused = [each for each in deliveries if each.delivery.id in shares.refused]
    held = [(each, known[shares.refused[each.delivery.id]]) for each in refused]
    _hold(batch, held, now=now)
    batch.commit()
    return [each for each in deliveries if each.delivery.id not in unpaid]


def settle(pairs: Iterable[Pair]) -> None:
    """Settle the reservations of calls with outcomes; joins the transaction of the outcomes.

    A call costs the price at its reservation: a later price change cannot exceed a budget. If the
    answer has another number of segments, the call costs these. A call without an answer may have
    sent its message, so its price counts as spent.
    """
    final: dict[UUID, int | None] = {}
    units = call_prices.Prices("")  # not looked up: each of the calls has a reserved price
    token = None
    for claimed, result in pairs:
        if claimed.reserved_under is None:
            continue
        token = claimed.reserved_under
        match result.outcome:
            case Accepted() as outcome:
                segments = call_prices.segments_of(claimed, outcome)
                final[claimed.delivery.id] = units.of(claimed, segments)
            case Unanswered():
                final[claimed.delivery.id] = None
            case _:
                final[claimed.delivery.id] = 0
    ledgers.settle(final, token=token)


def _asks(
    deliveries: Iterable[ClaimedDelivery], known: Mapping[int, Budget], *, provider: str
) -> list[tuple[ClaimedDelivery, PricedCall]]:
    """Return the requests for money; none for a free call or without a budget."""
    units = call_prices.Prices(provider)
    budgets: dict[tuple[Mode, int, Channel], list[int]] = {}
    asks = []
    for claimed in deliveries:
        row = claimed.delivery
        kind = row.mode, claimed.notification.producer_id, row.channel
        if kind not in budgets:
            budgets[kind] = [each.id for each in known.values() if _counts(claimed, each)]
        price = units.of(claimed, claimed.segments) if budgets[kind] else 0
        if price:
            is_limited = not row.priority.is_urgent
            asks.append((claimed, PricedCall(row.id, price, budgets[kind], is_limited)))
    return asks


def _counts(claimed: ClaimedDelivery, budget: Budget) -> bool:
    """Return True if a call of the delivery counts in a budget."""
    row = claimed.delivery
    if row.mode is not Mode.LIVE:
        return False
    return budget.covers(producer_id=claimed.notification.producer_id, channel=row.channel)


def _hold(batch: Batch, held: Sequence[Held], *, now: dt.datetime) -> None:
    """Send P3 text messages by e-mail if possible, and hold the other deliveries.

    Safe if the process dies between the writes: the lease ends, and the next claim decides again.

    Args:
        batch: the batch of the deliveries.
        held: the deliveries with their spent budgets.
        now: the time at which the budgets were spent, which decides the day.
    """
    texts = [
        claimed
        for claimed, _ in held
        if claimed.delivery.channel is Channel.SMS and claimed.delivery.priority is Priority.P3
    ]
    moved = by_email.send_by_email(batch, texts) if texts else set()
    staying = [(claimed, each) for claimed, each in held if claimed.delivery.id not in moved]
    if not staying:
        return
    ledgers.hold({claimed.delivery.id: each.id for claimed, each in staying}, token=batch.token)
    for claimed, budget in staying:
        detail = f"budget {budget.name}: {prices.dollars(budget.amount)} a day"
        wait = max(_SHORTEST, _end(claimed, budget, now) - batch.now)
        batch.decide(
            claimed, Decision(transition=HOLD, reason=Reason.BUDGET, detail=detail, due_in=wait)
        )


def _end(claimed: ClaimedDelivery, budget: Budget, now: dt.datetime) -> dt.datetime:
    """Return a place on the release ramp behind midnight, or the end of the time to live."""
    place = deferral.place_on(
        conf.current().release_ramp,
        priority=claimed.delivery.priority,
        notification_id=claimed.notification.id,
    )
    return min(budget.next_day(now) + place, claimed.notification.expires_at)
