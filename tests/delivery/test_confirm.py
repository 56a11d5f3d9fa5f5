"""A confirm window ends with a receipt or with the next channel, and never with both."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection, transaction

from notifications.core import broker, clock
from notifications.core.delivery import deliver, rescue, routing, settle
from notifications.core.delivery.batch import load
from notifications.core.feedback import delivery_receipts
from notifications.core.models import (
    Contact,
    DeadLetter,
    Delivery,
    Notification,
    NotificationType,
    ProviderRoute,
    Template,
    TemplateText,
)
from notifications.core.rules.fallback import FallbackOn
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import claims
from notifications.core.store.redis import sent_ledger
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.core.sweeps import due_rows
from notifications.core.sweeps.rounds import Swept
from providers.contract import (
    Accepted,
    Channel,
    Receipt,
    ReceiptKind,
    Result,
    Unanswered,
)
from tests.journey import (
    CHAIN,
    Accept,
    AddVendor,
    Reach,
    chain_of,
    chain_statuses,
    deliver_chain,
    lapse,
)
from tests.moments import transaction_now
from tests.vendors import Scripted

Outbox = Callable[[UUID], list[Any]]


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test needs the broker: each claims its rows itself."""
    monkeypatch.setattr(broker, "takes_messages", lambda: False)


def sweep(*, unknown: bool = False) -> Swept:
    if unknown:
        return due_rows.recheck_unknown(now=clock.now(), limit=100)
    return due_rows.end_confirm_windows(limit=100)


def end_window(delivery: Delivery) -> None:
    Delivery.objects.filter(id=delivery.id).update(
        due_at=TransactionNow() - dt.timedelta(seconds=1)
    )


def seconds_left(delivery: Delivery) -> float:
    assert delivery.due_at is not None
    return (delivery.due_at - transaction_now()).total_seconds()


def delivered(row: Delivery) -> int:
    receipt = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=row.id)
    return delivery_receipts.record("sandbox", [receipt])


def test_an_unconfirmed_push_becomes_an_sms(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    [push] = chain_of(answer)
    assert push.status == Status.SENT
    assert 3 < seconds_left(push) <= 5
    assert sweep().moved == 0, "the window is open"
    end_window(push)
    assert sweep().moved == 1
    assert chain_statuses(answer) == [
        ("push", "unconfirmed", "unconfirmed"),
        ("sms", "queued", "fallback"),
    ]
    assert sweep().moved == 0
    deliver_chain(answer)
    [shown] = outbox(chain_of(answer)[1].id)
    assert shown["body"] == "Ana: 4711"


def test_a_receipt_in_the_window_ends_the_chain(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    [push] = chain_of(answer)
    assert delivered(push) == 1
    end_window(push)
    Delivery.objects.filter(id=push.id).update(due_at=None)
    assert sweep().moved == 0
    assert chain_statuses(answer) == [("push", "delivered", "receipt_delivered")]
    del outbox


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["receipt", "window"])
def test_exactly_one_of_receipt_and_window_wins(
    outbox: Outbox, reach: Reach, take: Accept, first: str
) -> None:
    """Two real connections; the second one waits for, or skips, the row of the first."""
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    [push] = chain_of(answer)
    end_window(push)
    other = threading.Thread(target=_on_own_connection(lambda: delivered(push), sweep, first=first))
    with transaction.atomic():
        (delivered(push) if first == "receipt" else sweep())
        other.start()
        if first == "receipt":
            other.join(timeout=20)  # the sweep skips the locked row
        else:
            _until_somebody_waits()
    other.join(timeout=20)
    assert not other.is_alive()
    sweep()
    found = chain_statuses(answer)
    if first == "receipt":
        assert found == [("push", "delivered", "receipt_delivered")]
    else:
        assert found == [
            ("push", "delivered", "receipt_delivered"),
            ("sms", "cancelled", "confirmed_elsewhere"),
        ]
    del outbox


@pytest.mark.django_db(transaction=True)
def test_a_locked_notification_does_not_stop_the_others(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    """A transaction on a second connection holds a notification until the sweep has ended."""
    reach(push="token", sms="+15552020300")
    held, free = take(**CHAIN), take(**CHAIN)
    for answer in (held, free):
        deliver_chain(answer)
        end_window(chain_of(answer)[0])
    is_locked, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        of_held = Notification.objects.filter(id=chain_of(held)[0].notification_id)
        try:
            with transaction.atomic():
                of_held.select_for_update().get()
                is_locked.set()
                is_over.wait(timeout=20)
        finally:
            connection.close()

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert is_locked.wait(timeout=20)
        assert sweep() == Swept(moved=1)
        assert [row[0] for row in chain_statuses(free)] == ["push", "sms"]
        assert chain_statuses(held) == [("push", "sent", "")]
    finally:
        is_over.set()
        other.join(timeout=20)
    assert sweep() == Swept(moved=1), "the row stayed due"
    assert [row[0] for row in chain_statuses(held)] == ["push", "sms"]
    del outbox


def _on_own_connection(
    receipt: Callable[[], object], window: Callable[[], object], *, first: str
) -> Callable[[], None]:
    def run() -> None:
        try:
            (window if first == "receipt" else receipt)()
        finally:
            connection.close()

    return run


def _until_somebody_waits() -> None:
    statement = "SELECT count(*) FROM pg_locks WHERE NOT granted"
    ends_at = clock.monotonic() + 20
    while clock.monotonic() < ends_at:
        with connection.cursor() as running:
            running.execute(statement)
            if running.fetchone()[0]:
                return
    pytest.fail("the receipt did not wait for the row")


def test_the_last_window_of_several_devices_counts(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push=["phone", "tablet"], sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    phone, tablet = chain_of(answer)
    end_window(phone)
    sweep()
    assert [row[0] for row in chain_statuses(answer)] == ["push", "push"]
    end_window(tablet)
    sweep()
    assert [row[0] for row in chain_statuses(answer)] == ["push", "push", "sms"]
    del outbox


def test_a_window_without_a_further_channel_leaves_sent(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    person = reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    Contact.objects.filter(recipient=person, address="+15552020300").delete()
    end_window(chain_of(answer)[0])
    assert sweep().moved == 1
    assert chain_statuses(answer) == [("push", "sent", "not_confirmed")]
    assert chain_of(answer)[0].due_at is None
    assert not DeadLetter.objects.exists()
    assert Notification.objects.get().secrets is None, "no delivery needs the code"
    del outbox


@pytest.mark.parametrize(
    ("on", "seconds", "expected"),
    [(FallbackOn.RECEIPT, 12, 12), (FallbackOn.FAILURE, None, None)],
)
def test_the_type_chooses_the_window(
    outbox: Outbox,
    reach: Reach,
    take: Accept,
    *,
    on: FallbackOn,
    seconds: int | None,
    expected: int | None,
) -> None:
    NotificationType.objects.update(fallback_on=on, confirm_seconds=seconds)
    notification_types.forget()
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    [push] = chain_of(answer)
    if expected is None:
        assert push.due_at is None
    else:
        assert expected - 2 < seconds_left(push) <= expected
    del outbox


def test_a_template_version_overrides_its_type(outbox: Outbox, reach: Reach, take: Accept) -> None:
    NotificationType.objects.update(fallback_on=FallbackOn.FAILURE, confirm_seconds=300)
    notification_types.forget()
    otp = Template.objects.get(template_id="otp")
    copy = Template.objects.create(
        template_id="otp_fast", fallback_on=FallbackOn.UNCONFIRMED, confirm_seconds=9
    )
    for text in otp.texts.all():
        TemplateText.objects.create(template=copy, channel=text.channel, title="Hi", body="Hello")
    Template.objects.filter(pk=copy.pk).update(published_at=clock.now())
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN | {"template_id": "otp_fast", "variables": {}})
    deliver_chain(answer)
    assert 7 < seconds_left(chain_of(answer)[0]) <= 9
    answer = take(**CHAIN)
    deliver_chain(answer)
    assert chain_of(answer)[0].due_at is None
    del outbox


def test_a_provider_without_receipts_needs_the_types_consent(
    add_vendor: AddVendor, reach: Reach, take: Accept
) -> None:
    add_vendor("silent", gives_receipts=False)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="silent")
    routing.forget()
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    fields = CHAIN | {"user_id": "ana", "channels": ["email", "sms"]}
    answer = take(**fields)
    deliver_chain(answer)
    assert chain_of(answer)[0].due_at is None
    NotificationType.objects.update(fallback_on=FallbackOn.UNCONFIRMED)
    notification_types.forget()
    answer = take(**fields)
    deliver_chain(answer)
    assert seconds_left(chain_of(answer)[0]) <= 5


def test_a_patient_unanswered_call_waits_for_its_window(
    scripted: Scripted, reach: Reach, take: Accept
) -> None:
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    answer = take(**CHAIN | {"user_id": "ana", "priority": "P2", "channels": ["email", "sms"]})
    deliver_chain(answer)
    [mail] = chain_of(answer)
    assert mail.status == Status.UNKNOWN
    assert seconds_left(mail) <= 30
    end_window(mail)
    assert sweep(unknown=True).moved == 1
    assert [row[:2] for row in chain_statuses(answer)] == [
        ("email", "unconfirmed"),
        ("sms", "queued"),
    ]


def test_an_unanswered_call_without_a_further_channel_waits_a_day(
    scripted: Scripted, reach: Reach, take: Accept
) -> None:
    person = reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    answer = take(**CHAIN | {"user_id": "ana", "priority": "P2", "channels": ["email", "sms"]})
    deliver_chain(answer)
    Contact.objects.filter(recipient=person, address="+15552020300").delete()
    end_window(chain_of(answer)[0])
    sweep(unknown=True)
    [mail] = chain_of(answer)
    assert mail.status == Status.UNKNOWN
    assert seconds_left(mail) > 86_000
    end_window(mail)
    sweep(unknown=True)
    assert DeadLetter.objects.get().reason == "closed_unanswered"


def test_a_dead_worker_takes_no_window_with_it(outbox: Outbox, reach: Reach, take: Accept) -> None:
    reach(push="token", sms="+15552020300")
    answer = take(**CHAIN)
    deliver_chain(answer)
    [push] = chain_of(answer)
    Delivery.objects.filter(id=push.id).update(
        status=Status.SENDING, call_started_at=transaction_now()
    )
    sent_ledger.write([LedgerEntry(push.id, push.attempts, "sandbox", Accepted(message_id="m"))])
    assert rescue.rescue([lapse(push.id)]) == 1
    [push] = chain_of(answer)
    assert (push.status, push.reason) == (Status.SENT, "accepted_before_crash")
    assert seconds_left(push) <= 5
    deliver.deliver([push.id])
    del outbox


def test_an_acceptance_after_the_lease_has_a_window(
    scripted: Scripted, reach: Reach, take: Accept
) -> None:
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    answer = take(**CHAIN | {"user_id": "ana", "channels": ["email", "sms"]})
    [mail] = chain_of(answer)
    batch = load(claims.claim([mail.id], now=clock.now()))
    [claimed] = batch.deliveries
    claims.renew([mail.id], token=batch.token, provider=scripted.name)
    claimed.call = 1
    Delivery.objects.filter(id=mail.id).update(status=Status.QUEUED, claim_token=None)
    result = Result(
        delivery_id=mail.id, outcome=Accepted(message_id="m"), latency=dt.timedelta(seconds=1)
    )
    settle.settle(batch, [(claimed, result)], provider=scripted)
    [mail] = chain_of(answer)
    assert (mail.status, mail.reason) == (Status.SENT, "accepted_after_lease")
    assert 3 < seconds_left(mail) <= 5
