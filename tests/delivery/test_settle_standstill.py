"""A worker that stands still within the transaction of a settle holds up its own rows alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connection, connections

from notifications.core import clock
from notifications.core.delivery import call_reservations, deliver
from notifications.core.models import Alert, Delivery, ProviderRoute
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts, claims, secret_variables
from notifications.core.sweeps import due_rows
from notifications.core.sweeps.rounds import Swept
from providers.contract import Accepted, Channel, Message, Misconfigured, Outcome, Unavailable
from tests.journey import Accept, AddVendor, statuses, take_rows
from tests.vendors import Scripted

_PAST = dt.timedelta(minutes=5)


def _end_lease(row: UUID) -> None:
    Delivery.objects.filter(id=row).update(due_at=clock.now() - _PAST)


def _rescue() -> Swept:
    try:
        return due_rows.rescue_lost(now=clock.now(), limit=10)
    finally:
        connections.close_all()


def _lost(take: Accept, provider: str) -> UUID:
    """Return a row of a dead worker, whose lease has ended."""
    [row] = take_rows(take, 1, priority="P0")
    claim = claims.claim([row], now=clock.now())
    claims.renew([row], token=claim.token, provider=provider)
    _end_lease(row)
    return row


def _rescue_within(monkeypatch: pytest.MonkeyPatch) -> list[Swept]:
    """Let a rescue run within the transaction, behind the attempts; returns its results."""
    swept: list[Swept] = []
    settle: Callable[..., object] = call_reservations.settle

    def stand_still(pairs: Sequence[object]) -> object:
        if not swept and connection.in_atomic_block:
            with ThreadPoolExecutor(1) as other:
                swept.append(other.submit(_rescue).result())
        return settle(pairs)

    monkeypatch.setattr(call_reservations, "settle", stand_still)
    return swept


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("fails_over", [False, True])
def test_a_standstill_within_a_settle_holds_up_no_rescue_of_another_row(
    scripted: Scripted,
    add_vendor: AddVendor,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fails_over: bool,
) -> None:
    outcome: Outcome = Accepted(message_id="m")
    if fails_over:
        add_vendor("spare")
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider="spare", rank=1)
        outcome = Unavailable(code="503")
    lost = _lost(take, scripted.name)
    [row] = take_rows(take, 1, priority="P0")

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        _end_lease(row)
        connections.close_all()  # of the thread of the wave
        return ((each, outcome) for each in batch)

    scripted.answer = answer
    swept = _rescue_within(monkeypatch)
    deliver.deliver([row])
    assert swept == [Swept(1)]
    assert statuses([lost]) != [Status.SENDING]


@pytest.mark.django_db(transaction=True)
def test_a_standstill_within_a_settle_holds_up_no_alert(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.answer = lambda batch: ((each, Misconfigured(code="401")) for each in batch)
    wipe: Callable[..., object] = secret_variables.wipe
    raised: list[object] = []

    def raise_alert() -> None:
        subject = HealthKey(scripted.name, Channel.EMAIL).label
        try:
            alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, subject, "of another settle")
        finally:
            connections.close_all()

    def stand_still(notifications: Collection[UUID]) -> object:
        if connection.in_atomic_block:
            with ThreadPoolExecutor(1) as other:
                raised.append(other.submit(raise_alert).exception())
        return wipe(notifications)

    monkeypatch.setattr(secret_variables, "wipe", stand_still)
    deliver.deliver(take_rows(take, 1, priority="P0"))
    assert raised == [None]
    assert Alert.objects.filter(kind=AlertKind.PROVIDER_MISCONFIGURED).count() == 1
