"""Answers reach the ledger and the rows, whatever a vendor or an adapter puts into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.models import Attempt, DeadLetter, Delivery
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims
from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import (
    Accepted,
    Message,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from tests.journey import Accept, lapse, statuses, take_rows
from tests.vendors import Scripted

_HALF = "\x00\ud800"
"""What neither JSON nor Postgres takes."""


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Accepted(message_id=f"m{_HALF}"), Status.SENT),
        (Accepted(message_id="m" * 1_000), Status.SENT),
        (Rejected(code=f"c{_HALF}" * 400, detail=f"d {_HALF}" * 400), Status.FAILED),
        (Unavailable(code="c" * 1_000, detail="d " * 1_000), Status.RETRYING),
        (Throttled(code=_HALF, retry_after=timedelta.max), Status.FAILED),  # by the time to live
    ],
)
def test_an_answer_with_odd_texts_is_settled(
    scripted: Scripted, take: Accept, outcome: Outcome, status: Status
) -> None:
    rows = take_rows(take, 2, priority="P2")
    scripted.answer = lambda batch: ((each, outcome) for each in batch)
    deliver.deliver(rows)
    assert statuses(rows) == [status] * 2
    assert Attempt.objects.count() == 2
    assert DeadLetter.objects.count() == (2 if status is Status.FAILED else 0)


@pytest.mark.parametrize("second", [Unavailable(code="x"), Unanswered(code="x")])
def test_nothing_that_an_adapter_reports_behind_an_acceptance_takes_it_back(
    scripted: Scripted, take: Accept, second: Outcome
) -> None:
    rows = take_rows(take, 2, priority="P1")

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        for each in batch:
            yield each, Accepted(message_id="m")
            yield each, second

    scripted.answer = answer
    assert deliver.deliver(rows) == []
    assert statuses(rows) == [Status.SENT] * 2


@pytest.mark.parametrize("value", [b"{", b"{}", b'{"outcome":"accepted"}', b"\xff\xfe"])
@pytest.mark.usefixtures("scripted")
def test_an_unreadable_entry_of_the_ledger_does_not_stop_the_rescue_of_other_rows(
    take: Accept, value: bytes
) -> None:
    odd, other = take_rows(take, 2, priority="P2")
    _call(odd)
    sent_ledger.write([LedgerEntry(other, _call(other), "scripted", Accepted(message_id="m"))])
    with state.connection() as redis:
        redis.set(sent_ledger.key_of(odd, 1), value)
    rescue.rescue([lapse(odd), lapse(other)])
    assert statuses([odd, other]) == [Status.UNKNOWN, Status.SENT]
    assert Delivery.objects.get(id=other).provider_message_id == "m"


def _call(row: UUID) -> int:
    claim = claims.claim([row], now=clock.now())
    [number] = claims.renew([row], token=claim.token, provider="scripted")
    assert number
    return number
