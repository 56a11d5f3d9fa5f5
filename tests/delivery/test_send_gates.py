"""Gates that run again before a call that begins long after the claim."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.models import (
    Attempt,
    Contact,
    Delivery,
    Notification,
    Preference,
    Recipient,
)
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import claims, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Outcome,
)
from tests.journey import (
    CHAIN,
    Accept,
    chain_of,
    deliver_chain,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.vendors import Scripted


def _with_calls_of(
    seconds: float, monkeypatch: pytest.MonkeyPatch, *, beside: Callable[[], object] = bool
) -> Callable[[Sequence[Message]], Iterator[tuple[Message, Outcome]]]:
    """Return accepting calls, each of which takes so long by the steady clock."""
    steady = clock.steady
    passed: list[float] = []

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        passed.append(seconds)
        monkeypatch.setattr(clock, "steady", lambda: steady() + sum(passed))
        beside()
        connection.close()
        return ((each, Accepted()) for each in batch)

    return answer


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("priority", ["P1", "P2"])
def test_no_call_begins_after_the_time_to_live(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch, priority: str
) -> None:
    rows = take_rows(take, 6, ttl_seconds=300, priority=priority)
    scripted.concurrency = 1  # two calls at once if they are urgent
    Notification.objects.update(expires_at=clock.now() + dt.timedelta(seconds=3))
    scripted.answer = _with_calls_of(1.9, monkeypatch)
    deliver.deliver(rows)
    ends = sorted(status_and_reason(each) for each in rows)
    sent = 4 if priority == "P1" else 2
    assert ends == [(Status.SENT, "")] * sent + [(Status.EXPIRED, "ttl_passed")] * (6 - sent)
    assert Attempt.objects.count() == sent


def _write_stop() -> None:
    entry = SuppressionEntry(
        channel=Channel.EMAIL, address="maria@example.com", cause=Cause.STOP_KEYWORD
    )
    suppressions.add([entry], by="tests")


def _opt_out() -> None:
    wish = {"categories_off": ["social"]}
    Preference.objects.update_or_create(recipient=Recipient.objects.get(), defaults=wish)


def _begin_do_not_disturb() -> None:
    wish = {"do_not_disturb_until": clock.now() + dt.timedelta(hours=2)}
    Preference.objects.update_or_create(recipient=Recipient.objects.get(), defaults=wish)


def _cancel() -> None:
    Notification.objects.update(cancelled_at=clock.now())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("change", "seconds", "end"),
    [
        (_write_stop, 1.5, (Status.SUPPRESSED, "suppression_list")),
        (_opt_out, 1.5, (Status.SUPPRESSED, "opted_out")),
        (_begin_do_not_disturb, 1.5, (Status.SCHEDULED, "do_not_disturb")),
        (_cancel, 1.5, (Status.CANCELLED, "cancelled")),
        (_opt_out, 0.01, (Status.SENT, "")),  # no query for a call that follows at once
    ],
)
def test_what_a_recipient_chose_since_the_claim_stops_a_call_that_begins_a_second_later(
    scripted: Scripted,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[], None],
    seconds: float,
    end: tuple[Status, str],
) -> None:
    rows = take_rows(take, 2)
    scripted.concurrency = 1
    scripted.answer = _with_calls_of(seconds, monkeypatch, beside=change)
    deliver.deliver(rows)
    assert statuses(rows[:1]) == [Status.SENT]
    assert status_and_reason(rows[1]) == end


@pytest.mark.django_db(transaction=True)
def test_a_waiting_channel_of_a_chain_stops_when_another_channel_reaches_the_recipient(
    scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = take_rows(take, 2, priority="P0")  # two urgent calls at once
    Contact.objects.create(
        recipient=Recipient.objects.get(), channel=Channel.PUSH, address="token.400"
    )
    answer = take(**CHAIN)
    deliver_chain(answer)
    push, email = chain_of(answer)

    def reach_the_device() -> None:
        Delivery.objects.filter(id=push.id).update(status=Status.DELIVERED)

    scripted.concurrency = 1
    scripted.answer = _with_calls_of(1.5, monkeypatch, beside=reach_the_device)
    deliver.deliver([*first, email.id])
    assert statuses(first) == [Status.SENT] * 2
    assert status_and_reason(email.id) == (Status.CANCELLED, "confirmed_elsewhere")


@pytest.mark.usefixtures("scripted")
def test_no_call_of_a_wave_begins_after_a_time_to_live_that_ended_during_the_renewal(
    take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = take_rows(take, 2, ttl_seconds=300)
    Notification.objects.update(expires_at=clock.now() + dt.timedelta(seconds=5))
    renew, steady = claims.renew, clock.steady

    def renew_before_a_suspension(ids: Sequence[UUID], **named: Any) -> list[int | None]:  # noqa: ANN401 - as the function
        calls = renew(ids, **named)
        monkeypatch.setattr(clock, "steady", lambda: steady() + 30)
        return calls

    monkeypatch.setattr(claims, "renew", renew_before_a_suspension)
    [group] = deliver.deliver(rows)
    assert set(group.delivery_ids) == set(rows)
    assert not Attempt.objects.exists()
