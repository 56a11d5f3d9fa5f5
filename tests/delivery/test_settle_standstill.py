"""A worker that stands still within the transaction of a settle holds up its own rows alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection, connections, transaction

from notifications.core import clock
from notifications.core.delivery import call_reservations, deliver, rescue
from notifications.core.models import Alert, Contact, Delivery, ProviderRoute, Suppression
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts, claims, secret_variables, suppressions
from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.core.sweeps import due_rows
from notifications.core.sweeps.rounds import Swept
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    Outcome,
    Rejected,
    Unavailable,
)
from tests.journey import Accept, AddVendor, Reach, statuses, take_rows
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


@pytest.mark.django_db(transaction=True)
def test_an_alert_that_is_not_stored_repeats_no_settle(
    scripted: Scripted,
    reach: Reach,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    log_output: Callable[[], str],
) -> None:
    reach(user_id="ana", email="ana@example.com")
    [refused] = take_rows(take, 1)
    [dead] = take_rows(take, 1, user_id="ana")
    outcomes: dict[UUID, Outcome] = {
        refused: Misconfigured(code="401"),
        dead: Rejected(code="gone", contact_is_dead=True),
    }
    scripted.answer = lambda batch: ((each, outcomes[each.delivery_id]) for each in batch)
    tries: list[object] = []

    def fail(*alert: object) -> None:
        tries.append(alert)
        msg = "another transaction has locked the alert"
        raise OperationalError(msg)

    monkeypatch.setattr(alerts, "raise_once", fail)
    deliver.deliver([refused, dead])
    assert statuses([refused, dead]) == [Status.SCHEDULED, Status.FAILED]
    assert Contact.objects.exclude(invalidated_at=None).get().address == "ana@example.com"
    assert len(tries) == 1
    assert "settled_one_by_one" not in log_output()


def _change_contact() -> None:
    """Change the contact and the opt-outs of the address, as another process."""
    try:
        with connection.cursor() as running, transaction.atomic():
            running.execute("SET LOCAL lock_timeout = '50ms'")
            Contact.objects.update(client_receipt_at=None)
            suppressions.lock([(Channel.EMAIL, "maria@example.com")])
    finally:
        connections.close_all()


_ENDS = [Rejected(code="gone", contact_is_dead=True), Rejected(code="21610", has_opted_out=True)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("outcome", _ENDS, ids=["dead", "opted out"])
@pytest.mark.parametrize("is_rescued", [False, True])
def test_a_standstill_within_a_transaction_locks_no_contact(
    scripted: Scripted,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    *,
    outcome: Rejected,
    is_rescued: bool,
) -> None:
    changed: list[object] = []
    [row] = take_rows(take, 1, priority="P0")

    def then_stand_still(step: Callable[..., object]) -> Callable[..., object]:
        def do(*given: object, **options: object) -> object:
            done = step(*given, **options)
            if connection.in_atomic_block:
                with ThreadPoolExecutor(1) as other:
                    changed.append(other.submit(_change_contact).exception())
            return done

        return do

    if is_rescued:
        claim = claims.claim([row], now=clock.now())
        [call] = claims.renew([row], token=claim.token, provider=scripted.name)
        assert call is not None
        sent_ledger.write([LedgerEntry(row, call, scripted.name, outcome, has_next=False)])
        _end_lease(row)
        monkeypatch.setattr(rescue, "rescue", then_stand_still(rescue.rescue))
        due_rows.rescue_lost(now=clock.now(), limit=10)
    else:
        monkeypatch.setattr(secret_variables, "wipe", then_stand_still(secret_variables.wipe))
        scripted.answer = lambda batch: ((each, outcome) for each in batch)
        deliver.deliver([row])
    assert changed
    assert set(changed) == {None}
    assert statuses([row]) == [Status.FAILED]
    assert Suppression.objects.count() == 1
    assert Contact.objects.filter(invalidated_at=None).exists() == outcome.has_opted_out


@pytest.mark.django_db(transaction=True)
def test_a_locked_contact_holds_up_no_outcome_of_its_group(
    scripted: Scripted, reach: Reach, take: Accept, log_output: Callable[[], str]
) -> None:
    locked = reach(user_id="ana", email="ana@example.com")
    rows = take_rows(take, 2) + take_rows(take, 1, user_id="ana")
    outcome = Rejected(code="gone", contact_is_dead=True)
    scripted.answer = lambda batch: ((each, outcome) for each in batch)
    link = connection.copy()
    try:
        link.set_autocommit(False)
        with link.cursor() as running:
            lock = "SELECT FROM notifications_contact WHERE recipient_id = %s FOR UPDATE"
            running.execute(lock, [locked.pk])
        deliver.deliver(rows)
    finally:
        link.close()
    assert statuses(rows) == [Status.FAILED] * 3
    assert "contacts_not_ended" in log_output()


@pytest.mark.django_db(transaction=True)
def test_a_standstill_within_a_rescue_holds_up_no_alert(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lost(take, scripted.name)
    kind, raised = AlertKind.SENT_LEDGER_UNREAD, list[object]()
    monkeypatch.setattr(state._circuit, "rests_until", float("inf"))
    step = rescue.rescue

    def raise_alert() -> None:
        try:
            alerts.raise_once(kind, "", "of another rescue")
        finally:
            connections.close_all()

    def then_stand_still(rows: Sequence[Any]) -> int:
        moved = step(rows)
        with ThreadPoolExecutor(1) as other:
            raised.append(other.submit(raise_alert).exception())
        return moved

    monkeypatch.setattr(rescue, "rescue", then_stand_still)
    due_rows.rescue_lost(now=clock.now(), limit=10)
    assert raised == [None]
    assert "deliveries of dead workers" in Alert.objects.get(kind=kind).detail
