"""Push receipts of Expo, from the accepted call to the contact."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from uuid import uuid4

import orjson
import pytest
from django.db.models import F

from notifications.core import clock, sweeps
from notifications.core.delivery import deliver, rescue, routing
from notifications.core.models import Contact, DeadLetter, Delivery, Event
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims
from notifications.core.store.redis import last_receipts, sent_ledger
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.features.receipt_lookups import sweep
from notifications.features.receipt_lookups.models import ReceiptLookup
from providers.conformance import Act
from providers.contract import Accepted, Channel
from tests.journey import Accept, Reach, deliveries_of, lapse
from tests.providers.push.vendors import ExpoFake, expo_refusal

TOKEN = "ExponentPushToken[device-1]"
QUARTER = dt.timedelta(minutes=15)


@pytest.fixture
def sent(expo: ExpoFake, reach: Reach, take: Accept) -> Delivery:
    """A push that Expo has accepted, whose receipt is due."""
    del expo
    reach(push=TOKEN)
    Contact.objects.update(kind="expo_token")
    [row] = deliveries_of(take(channels=["push"]))
    deliver.deliver([row.id])
    row.refresh_from_db()
    assert (row.status, row.provider) == (Status.SENT, "expo")
    return row


def make_due(*, later: dt.timedelta = QUARTER) -> None:
    ReceiptLookup.objects.update(due_at=F("due_at") - later, sent_at=F("sent_at") - later)


def run() -> int:
    return sweep.run_once(now=clock.now(), limit=1_000).moved


def questions(expo: ExpoFake) -> list[list[str]]:
    asked = [each for each in expo.requests if each.path.endswith("/getReceipts")]
    return [orjson.loads(each.body)["ids"] for each in asked]


def test_a_device_that_expo_finds_gone_later_gets_no_further_push(
    expo: ExpoFake, sent: Delivery
) -> None:
    [row] = ReceiptLookup.objects.all()
    assert (row.delivery_id, row.message_id) == (sent.id, sent.provider_message_id)
    assert row.due_at - row.sent_at == QUARTER
    assert "receipt_lookups" not in sweeps.with_work(["receipt_lookups"])
    assert (run(), questions(expo)) == (0, [])
    make_due()
    assert "receipt_lookups" in sweeps.with_work(["receipt_lookups"])
    expo.receipts = {sent.provider_message_id: expo_refusal("DeviceNotRegistered", to=TOKEN)}
    assert run() == 1
    assert questions(expo) == [[sent.provider_message_id]]
    sent.refresh_from_db()
    assert (sent.status, sent.reason) == (Status.BOUNCED, "receipt_bounced")
    assert Contact.objects.get().invalid_reason == "expo: DeviceNotRegistered"
    assert not ReceiptLookup.objects.exists()
    assert "expo" in last_receipts.load()
    assert run() == 0


def test_a_receipt_that_is_read_again_changes_nothing(expo: ExpoFake, sent: Delivery) -> None:
    expo.receipts = {sent.provider_message_id: expo_refusal("MessageRateExceeded")}
    [row] = ReceiptLookup.objects.all()
    make_due()
    assert run() == 1
    events = Event.objects.count()
    row.save(force_insert=True)
    make_due()
    assert run() == 1
    assert Event.objects.count() == events
    assert DeadLetter.objects.get().delivery_id == sent.id
    assert Contact.objects.get().invalidated_at is None


@pytest.mark.parametrize("code", ["InvalidCredentials", "MismatchSenderId", "MessageTooBig", "New"])
def test_a_failure_behind_expo_is_a_dead_letter_and_kills_no_contact(
    expo: ExpoFake, sent: Delivery, code: str
) -> None:
    expo.receipts = {sent.provider_message_id: expo_refusal(code, to=TOKEN)}
    make_due()
    assert run() == 1
    sent.refresh_from_db()
    assert (sent.status, sent.reason) == (Status.FAILED, "receipt_failed")
    assert DeadLetter.objects.get().delivery_id == sent.id
    assert Contact.objects.get().invalidated_at is None
    details = Event.objects.values_list("detail", flat=True)
    assert code in details
    assert not any("device-1" in each for each in details)


def test_a_good_receipt_ends_the_questions_and_promises_nothing(
    expo: ExpoFake, sent: Delivery
) -> None:
    expo.receipts = {sent.provider_message_id: {"status": "ok"}}
    make_due()
    assert run() == 1
    sent.refresh_from_db()
    assert sent.status == Status.SENT
    assert not ReceiptLookup.objects.exists()


@pytest.mark.parametrize("act", [Act.ACCEPT, Act.UNAVAILABLE, Act.BAD_CREDENTIALS, Act.CUT])
def test_a_message_without_a_receipt_is_asked_about_for_a_day(
    expo: ExpoFake, sent: Delivery, act: Act
) -> None:
    expo.act(act)
    make_due()
    before = clock.now()
    assert run() == 0
    assert len(questions(expo)) == 1
    [row] = ReceiptLookup.objects.all()
    assert row.due_at >= before + QUARTER
    assert run() == 0
    assert len(questions(expo)) == 1
    make_due(later=dt.timedelta(days=1))
    assert run() == 1
    assert len(questions(expo)) == 2
    assert not ReceiptLookup.objects.exists()
    sent.refresh_from_db()
    assert sent.status == Status.SENT


def test_a_provider_that_is_gone_is_not_asked(
    expo: ExpoFake, sent: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    del sent
    for name in ("NOTIFY_EXPO_ACCESS_TOKEN", "NOTIFY_EXPO_URL"):
        monkeypatch.delenv(name)
    routing.forget()
    make_due()
    assert run() == 0
    make_due(later=dt.timedelta(days=1))
    assert run() == 1
    assert questions(expo) == []
    assert not ReceiptLookup.objects.exists()


def test_a_backlog_is_asked_about_in_questions_of_a_thousand(expo: ExpoFake) -> None:
    past = clock.now() - dt.timedelta(minutes=1)
    expo.receipts = {f"ticket-{each}": {"status": "ok"} for each in range(2_100)}
    ReceiptLookup.objects.bulk_create(
        ReceiptLookup(
            delivery_id=uuid4(), provider="expo", message_id=each, sent_at=past, due_at=past
        )
        for each in expo.receipts
    )
    moved = 0
    while now_moved := run():  # a run ends after a second
        moved += now_moved
    assert moved == 2_100
    assert sorted(map(len, questions(expo))) == [100, 1_000, 1_000]


def test_an_expo_that_is_away_is_asked_once_in_a_run(expo: ExpoFake) -> None:
    past = clock.now() - dt.timedelta(minutes=1)
    for ticket in ("ticket-1", "ticket-2"):
        ReceiptLookup.objects.create(
            delivery_id=uuid4(), provider="expo", message_id=ticket, sent_at=past, due_at=past
        )
    expo.act(Act.UNAVAILABLE)
    assert not sweep.run_once(now=clock.now(), limit=1).more
    assert len(questions(expo)) == 1
    expo.act(Act.ACCEPT)
    expo.receipts = {"ticket-1": {"status": "ok"}, "ticket-2": {"status": "ok"}}
    assert sweep.run_once(now=clock.now(), limit=1).moved == 1
    assert len(questions(expo)) == 2


def test_an_acceptance_that_the_ledger_saved_is_asked_about(
    expo: ExpoFake, reach: Reach, take: Accept
) -> None:
    del expo
    reach(push=TOKEN)
    [row] = deliveries_of(take(channels=["push"]))
    claim = claims.claim([row.id], now=clock.now())
    claims.renew([row.id], token=claim.token, provider="expo")
    sent_ledger.write([LedgerEntry(row.id, 1, "expo", Accepted(message_id="ticket-1"))])
    rescue.rescue([lapse(row.id)])
    assert ReceiptLookup.objects.get().message_id == "ticket-1"


def test_another_provider_stores_nothing(
    outbox: Callable[[object], list[object]], reach: Reach, take: Accept
) -> None:
    reach(email="maria@example.com")
    [row] = deliveries_of(take(channels=["email"]))
    deliver.deliver([row.id])
    assert len(outbox(row.id)) == 1
    assert row.channel == Channel.EMAIL
    assert not ReceiptLookup.objects.exists()
