"""Deliveries whose lease ended are settled by the sent-ledger, queued again or closed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db.models import F

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.feedback import delivery_receipts
from notifications.core.models import (
    Attempt,
    DeadLetter,
    Delivery,
    NotificationType,
)
from notifications.core.operations import replay
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import claims
from notifications.core.store.redis import sent_ledger
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.core.sweeps import due_rows
from providers.contract import (
    Accepted,
    Receipt,
    ReceiptKind,
    Unanswered,
    Unavailable,
)
from tests.journey import (
    CHAIN,
    Accept,
    Reach,
    chain_of,
    chain_statuses,
    deliveries_of,
    lapse,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.vendors import Scripted

Outbox = Callable[[UUID], list[Any]]


@pytest.mark.parametrize(
    ("evidence", "priority", "begun", "expected"),
    [
        ("ledger", "P2", True, (Status.SENT, "accepted_before_crash")),
        ("", "P2", False, (Status.QUEUED, "worker_lost")),
        ("", "P2", True, (Status.QUEUED, "worker_lost")),
    ],
)
def test_a_lease_that_ran_out_is_settled_by_evidence(  # noqa: PLR0913 - a table's columns
    reach: Reach,
    take: Accept,
    outbox: Outbox,  # noqa: ARG001 - routes to the sandbox, which deduplicates
    *,
    evidence: str,
    priority: str,
    begun: bool,
    expected: tuple[Status, str],
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take(priority=priority))
    past = TransactionNow() - dt.timedelta(seconds=1)
    Delivery.objects.filter(id=row.id).update(
        status=Status.SENDING,
        due_at=past,
        claims=1,
        attempts=int(begun),
        call_started_at=past if begun else None,
        provider="sandbox" if begun else "",
    )
    if evidence:
        sent_ledger.write([
            LedgerEntry(row.id, int(begun), "sandbox", Accepted(message_id="sbx-1"))
        ])
    [columns] = Delivery.objects.filter(id=row.id).values()
    assert rescue.rescue([{**columns, "retry_preset": ""}]) == 1
    assert status_and_reason(row.id) == expected
    assert Attempt.objects.filter(delivery_id=row.id).count() == int(begun)


def test_a_replay_that_never_left_is_not_healed_by_the_answer_to_an_earlier_call(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    deliver.deliver([row])
    receipt = Receipt(kind=ReceiptKind.FAILED, delivery_id=row, code="30003")
    assert delivery_receipts.record(scripted.name, [receipt]) == 1
    job = replay.start(LetterFilter(), requested_by="tests", forced=True, renews_ttl=False)
    replay.run(job, limit=10)
    claims.claim([row], now=clock.now())
    rescue.rescue([lapse(row)])
    assert statuses([row]) == [Status.QUEUED]


def test_the_late_answer_to_an_earlier_call_replaces_no_evidence(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    claim = claims.claim([row], now=clock.now())
    for _ in range(2):
        claims.renew([row], token=claim.token, provider=scripted.name)
    sent_ledger.write([LedgerEntry(row, 2, scripted.name, Accepted(message_id="m"))])
    sent_ledger.write([LedgerEntry(row, 1, scripted.name, Unavailable(code="503"))])
    rescue.rescue([lapse(row)])
    assert status_and_reason(row) == (Status.SENT, "accepted_before_crash")


@pytest.mark.parametrize(
    ("priority", "expected"),
    [
        ("P0", [(Status.QUEUED, True), (Status.UNKNOWN, True)]),
        ("P1", [(Status.QUEUED, True), (Status.UNKNOWN, True)]),
        ("P2", [(Status.UNKNOWN, False)]),
    ],
)
def test_a_call_of_a_killed_worker_is_resent_as_soon_as_its_lease_ends(
    scripted: Scripted, take: Accept, priority: str, expected: list[tuple[Status, bool]]
) -> None:
    [row] = take_rows(take, 1, priority=priority)
    for status, is_resent in expected:
        assert claims.claim([row], now=clock.now()).deliveries
        called = {"call_started_at": clock.now(), "provider": scripted.name}
        Delivery.objects.filter(id=row).update(**called, attempts=F("attempts") + 1)
        rescue.rescue([lapse(row)])
        found = Delivery.objects.get(id=row)
        assert (found.status, found.resent) == (status, is_resent)


def test_silence_that_no_receipt_ends_becomes_a_dead_letter(
    scripted: Scripted, take: Accept
) -> None:
    [row] = take_rows(take, 1)
    scripted.answer = lambda batch: ((each, Unanswered(code="timeout")) for each in batch)
    deliver.deliver([row])
    rescue.resend_or_close([lapse(row)])
    assert statuses([row]) == [Status.UNKNOWN]
    assert DeadLetter.objects.get().reason == "closed_unanswered"


@pytest.mark.parametrize("priority", ["P0", "P2"])
def test_a_dead_worker_sends_an_unanswered_message_again_once(
    scripted: Scripted, reach: Reach, take: Accept, priority: str
) -> None:
    NotificationType.objects.update(confirm_seconds=5)
    notification_types.forget()
    reach(user_id="ana", email="ana@example.com", sms="+15552020300")
    answer = take(**CHAIN | {"user_id": "ana", "priority": priority, "channels": ["email", "sms"]})
    [mail] = chain_of(answer)
    Delivery.objects.filter(id=mail.id).update(
        status=Status.SENDING,
        call_started_at=clock.now(),
        attempts=2,
        provider=scripted.name,
        resent=priority == "P0",
    )
    assert rescue.rescue([lapse(mail.id)]) == 1
    [mail] = chain_of(answer)
    assert (mail.status, mail.reason) == (Status.UNKNOWN, "worker_lost")
    Delivery.objects.update(due_at=TransactionNow() - dt.timedelta(seconds=1))
    due_rows.recheck_unknown(now=clock.now(), limit=10)
    assert [row[:2] for row in chain_statuses(answer)] == [
        ("email", "unconfirmed"),
        ("sms", "queued"),
    ]


def test_a_dead_worker_with_a_dropped_delivery_opens_the_next_channel(
    outbox: Outbox, reach: Reach, take: Accept
) -> None:
    reach(push="token", email="maria@example.com")
    answer = take(**CHAIN | {"priority": "P3"})
    [push] = chain_of(answer)
    Delivery.objects.filter(id=push.id).update(
        status=Status.SENDING, call_started_at=clock.now(), attempts=3, provider="sandbox"
    )
    sent_ledger.write([LedgerEntry(push.id, 3, "sandbox", Unavailable(code="503"))])
    assert rescue.rescue([lapse(push.id)]) == 1
    assert chain_statuses(answer) == [
        ("push", "failed", "escalated"),
        ("email", "queued", "fallback"),
    ]
    del outbox
