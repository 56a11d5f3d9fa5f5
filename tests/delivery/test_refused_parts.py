"""Refusals of one message's sender, template or address: no other message waits for them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock, conf
from notifications.core.delivery import deliver, rescue
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Alert,
    Contact,
    DeadLetter,
    Delivery,
    Notification,
    ProviderRoute,
)
from notifications.core.rules.rate_limits.circuit_breaker import (
    FAULTS,
    REFUSAL_SAMPLE,
    REFUSALS_BELIEVED,
    CallStats,
    HealthKey,
)
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import sent_ledger
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.core.sweeps import due_rows
from notifications.features.brands import models, rows
from providers.contract import Accepted, Channel, Message, Misconfigured, Outcome, Rejected
from providers.refused_parts import RefusedPart
from tests.journey import Accept, AddVendor, lapse, statuses, take_rows
from tests.vendors import Answer, Scripted

NOT_VERIFIED = Misconfigured(
    code="IDENTITY_NOT_VERIFIED", detail="not verified", refused_part=RefusedPart.SENDER
)
SENDERS = frozenset({"@shop.example"})


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    circuit_breakers.forget()
    rows.forget()
    yield
    circuit_breakers.forget()
    rows.forget()


@pytest.fixture
def brand(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> models.Brand:
    permitted = replace(conf.current(), mail_senders=SENDERS)
    monkeypatch.setattr(conf, "current", lambda: permitted)
    return models.Brand.objects.create(
        producer_id=caller.producer_id, name="Shop", sender_address="news@shop.example"
    )


def _refuse(own: Outcome, others: Outcome) -> Answer:
    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        return ((each, own if each.mail.sender_address else others) for each in batch)

    return answer


def _open_alerts() -> dict[str, str]:
    open_alerts = Alert.objects.filter(resolved_at=None)
    return {f"{each.kind} {each.subject}": each.detail for each in open_alerts}


def test_a_refused_sender_of_a_brand_stops_no_other_message(
    scripted: Scripted, take: Accept, brand: models.Brand
) -> None:
    scripted.answer = _refuse(NOT_VERIFIED, Accepted())
    count = max(FAULTS, REFUSAL_SAMPLE) + 1
    refused = take_rows(take, count)
    deliver.deliver(refused)
    letters = DeadLetter.objects.values_list("reason", flat=True)
    assert list(letters) == [Reason.SENDER_REFUSED] * REFUSALS_BELIEVED
    waiting = Delivery.objects.filter(status=Status.RETRYING, reason=Reason.SENDER_REFUSED)
    assert waiting.count() == count - REFUSALS_BELIEVED
    [(alert, detail)] = _open_alerts().items()
    assert alert == "messages_refused scripted email sender"
    assert "the brand of tests" in detail
    assert "IDENTITY_NOT_VERIFIED" in detail
    brand.delete()
    rows.forget()
    others = take_rows(take, 1)
    deliver.deliver(others)
    assert statuses(others) == [Status.SENT]
    waiting.update(due_at=TransactionNow())
    deliver.deliver(refused)
    assert not waiting.exists()
    assert statuses(refused).count(Status.SENT) == count - REFUSALS_BELIEVED


def test_a_refused_sender_of_the_provider_keeps_the_backlog(
    scripted: Scripted, take: Accept
) -> None:
    scripted.answer = _refuse(Accepted(), NOT_VERIFIED)
    waiting = take_rows(take, FAULTS)
    deliver.deliver(waiting)
    assert set(statuses(waiting)) == {Status.SCHEDULED}
    assert "breaker_open scripted email" in _open_alerts()


def test_the_next_provider_sends_what_one_provider_refuses_the_sender_of(
    scripted: Scripted, take: Accept, brand: models.Brand, add_vendor: AddVendor
) -> None:
    assert brand.sender_address
    add_vendor("second")
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="second", rank=2)
    scripted.answer = _refuse(NOT_VERIFIED, Accepted())
    [row] = take_rows(take, 1)
    deliver.deliver([row])
    assert statuses([row]) == [Status.SENT]


def test_a_refused_sender_waits_for_a_provider_whose_breaker_is_open(
    scripted: Scripted, take: Accept, brand: models.Brand, add_vendor: AddVendor
) -> None:
    assert brand.sender_address
    add_vendor("paused")
    ProviderRoute.objects.update(rank=1)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="paused", rank=0)
    failed = CallStats(calls=1, faults=1, fault="the account is locked")
    [report] = circuit_breakers.record_calls({HealthKey("paused", Channel.EMAIL): failed}).values()
    assert report.is_open
    scripted.answer = _refuse(NOT_VERIFIED, Accepted())
    waiting = take_rows(take, 1)
    deliver.deliver(waiting)
    assert statuses(waiting) == [Status.RETRYING]
    assert not DeadLetter.objects.exists()


def test_the_refused_sender_of_the_setting_stops_the_provider_for_a_brand_too(
    scripted: Scripted, take: Accept, brand: models.Brand
) -> None:
    scripted.sender_address = brand.sender_address.replace("news", "News")
    scripted.answer = lambda batch: ((each, NOT_VERIFIED) for each in batch)
    waiting = take_rows(take, 2)
    deliver.deliver(waiting)
    assert not DeadLetter.objects.exists()
    assert not set(statuses(waiting)) & {Status.SENT, Status.FAILED}
    assert "breaker_open scripted email" in _open_alerts()


def test_an_account_in_the_sandbox_tells_so_and_its_listed_addresses_get_messages(
    scripted: Scripted, take: Accept
) -> None:
    sandbox = Rejected(
        code="DESTINATION_PHONE_NUMBER_NOT_VERIFIED",
        another_provider_may_accept=True,
        refused_part=RefusedPart.SANDBOX,
    )
    scripted.answer = lambda batch: ((each, sandbox) for each in batch)
    refused = take_rows(take, REFUSALS_BELIEVED)
    deliver.deliver(refused)
    assert set(statuses(refused)) == {Status.FAILED}
    assert set(DeadLetter.objects.values_list("reason", flat=True)) == {Reason.IN_SANDBOX}
    waiting = take_rows(take, 2)
    deliver.deliver(waiting)
    assert set(statuses(waiting)) == {Status.RETRYING}
    assert not Contact.objects.exclude(invalidated_at=None).exists()
    [(alert, detail)] = _open_alerts().items()
    assert alert == "messages_refused scripted email sandbox"
    assert "sandbox" in detail
    scripted.answer = lambda batch: ((each, Accepted()) for each in batch)
    listed = take_rows(take, 1)
    deliver.deliver(listed)
    assert statuses(listed) == [Status.SENT]


def test_a_refused_message_of_a_killed_worker_has_a_last_call_within_its_time_to_live(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    claim = claims.claim([row], now=clock.now())
    [call] = claims.renew([row], token=claim.token, provider=scripted.name)
    assert call
    refused = Rejected(code="not verified", refused_part=RefusedPart.SENDER)
    entry = LedgerEntry(row, call, scripted.name, refused, is_one_of_many=True)
    sent_ledger.write([entry._replace(is_judged=True)])
    ends = clock.now() + dt.timedelta(seconds=20)
    Notification.objects.update(expires_at=ends)
    Delivery.objects.update(due_at=clock.now() - dt.timedelta(seconds=1))
    assert due_rows.rescue_lost(now=clock.now(), limit=10).moved == 1
    waiting = Delivery.objects.get(id=row)
    assert waiting.status == Status.RETRYING
    assert waiting.due_at is not None
    assert clock.now() < waiting.due_at < ends


@pytest.mark.parametrize("is_judged", [False, True])
def test_a_killed_worker_with_many_refusals_leaves_ten_dead_letters(
    scripted: Scripted, take: Accept, *, is_judged: bool
) -> None:
    count = REFUSALS_BELIEVED + 5
    rows_ = take_rows(take, count)
    claim = claims.claim(rows_, now=clock.now())
    calls = claims.renew(rows_, token=claim.token, provider=scripted.name)
    refused = Rejected(code="not verified", refused_part=RefusedPart.SENDER)
    sent_ledger.write(
        LedgerEntry(
            each,
            call,
            scripted.name,
            refused,
            is_judged=is_judged,
            is_one_of_many=is_judged and place >= REFUSALS_BELIEVED,
        )
        for place, (each, call) in enumerate(zip(rows_, calls, strict=True))
        if call
    )
    assert rescue.rescue([lapse(each) for each in rows_]) == count
    assert DeadLetter.objects.count() == REFUSALS_BELIEVED
    waiting = Delivery.objects.filter(status=Status.RETRYING, reason=Reason.SENDER_REFUSED)
    assert waiting.count() == count - REFUSALS_BELIEVED
