"""A rescue decides by evidence that it has read, as the worker would have decided."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from notifications.core import clock
from notifications.core.delivery import deliver, rescue
from notifications.core.models import Alert, Contact, Delivery, ProviderRoute, Suppression
from notifications.core.rules.states import Status
from notifications.core.store.postgres import claims
from notifications.core.store.redis import sent_ledger, state
from notifications.core.store.redis.sent_ledger import LedgerEntry
from notifications.core.sweeps import due_rows
from providers.contract import (
    Accepted,
    Channel,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Repeat,
    Throttled,
    Unavailable,
)
from tests.journey import (
    Accept,
    AddVendor,
    Reach,
    lapse,
    status_and_reason,
    statuses,
    take_rows,
)
from tests.moments import transaction_now
from tests.vendors import Scripted

_AWAY = float("inf")


def _call(row: UUID, provider: str = "scripted") -> int:
    """Begin the call of a row, as a worker that dies; return the attempt."""
    claim = claims.claim([row], now=clock.now())
    [number] = claims.renew([row], token=claim.token, provider=provider)
    assert number
    return number


def _rescue(row: UUID, outcome: Outcome, *, has_next: bool | None = None) -> Delivery:
    """Rescue a row whose worker got an outcome and died."""
    entry = LedgerEntry(row, _call(row), "scripted", outcome, has_next=has_next)
    sent_ledger.write([entry])
    rescue.rescue([lapse(row)])
    return Delivery.objects.get(id=row)


# --- A ledger that was not read


@pytest.mark.parametrize("priority", ["P0", "P1", "P2", "P3"])
def test_an_unread_ledger_is_read_later_and_no_call_is_repeated_or_given_up(
    scripted: Scripted,  # noqa: ARG001 - its repeats are visible
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    priority: str,
) -> None:
    called, waiting = take_rows(take, 2, priority=priority)
    sent_ledger.write([LedgerEntry(called, _call(called), "scripted", Accepted(message_id="m"))])
    claims.claim([waiting], now=clock.now())
    with monkeypatch.context() as patch:
        patch.setattr(state._circuit, "rests_until", _AWAY)
        with django_capture_on_commit_callbacks(execute=True):
            rescue.rescue([lapse(called), lapse(waiting)])
        assert statuses([called, waiting]) == [Status.SENDING, Status.QUEUED]
        left = Delivery.objects.get(id=called)
        assert left.due_at is not None
        assert left.due_at > transaction_now()  # the next rows of the lane come first
    assert Alert.objects.get(resolved_at=None).kind == "sent_ledger_unread"
    rescue.rescue([lapse(called)])
    assert status_and_reason(called) == (Status.SENT, "accepted_before_crash")


@pytest.mark.parametrize(
    ("priority", "after", "expected"),
    [
        ("P0", dt.timedelta(seconds=11), Status.SENDING),
        ("P0", dt.timedelta(seconds=13), Status.QUEUED),
        ("P1", dt.timedelta(seconds=41), Status.QUEUED),
        ("P2", dt.timedelta(minutes=59), Status.SENDING),
        ("P2", dt.timedelta(minutes=61), Status.UNKNOWN),
    ],
)
def test_the_wait_for_the_ledger_has_an_end(
    scripted: Scripted,  # noqa: ARG001 - its repeats are visible
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    *,
    priority: str,
    after: dt.timedelta,
    expected: Status,
) -> None:
    [row] = take_rows(take, 1, priority=priority)
    _call(row)
    Delivery.objects.filter(id=row).update(call_started_at=transaction_now() - after)
    monkeypatch.setattr(state._circuit, "rests_until", _AWAY)
    rescue.rescue([lapse(row)])
    assert statuses([row]) == [expected]


def test_a_repeat_that_nobody_sees_does_not_wait_for_the_ledger(
    add_vendor: AddVendor, scripted: Scripted, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_vendor("knows_keys", repeat=Repeat.DEDUPLICATED)
    del scripted
    [row] = take_rows(take, 1)
    _call(row, "knows_keys")
    monkeypatch.setattr(state._circuit, "rests_until", _AWAY)
    rescue.rescue([lapse(row)])
    assert statuses([row]) == [Status.QUEUED]


def test_rows_that_wait_for_the_ledger_hide_no_other_row_from_the_sweep(
    scripted: Scripted,  # noqa: ARG001 - its repeats are visible
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = take_rows(take, 4)
    for row in rows[:3]:
        _call(row)
    claims.claim(rows[3:], now=clock.now())
    for row in rows:
        lapse(row)
    monkeypatch.setattr(state._circuit, "rests_until", _AWAY)
    for _ in range(3):
        due_rows.rescue_lost(now=clock.now(), limit=2)
    assert statuses(rows) == [Status.SENDING] * 3 + [Status.QUEUED]


# --- The decision of the rescue is the decision of the settle

_OUTCOMES: list[Outcome] = [
    Accepted(message_id="m-1"),
    Throttled(code="429", retry_after=dt.timedelta(seconds=200)),
    Unavailable(code="503"),
    Unavailable(code="503", retry_after=dt.timedelta(seconds=200)),
    NotStarted(code="not_started"),
    Rejected(code="bad"),
    Rejected(code="gone", contact_is_dead=True),
    Rejected(code="21610", has_opted_out=True),
    Rejected(code="region", another_provider_may_accept=True),
    Misconfigured(code="401"),
]


@pytest.mark.parametrize("outcome", _OUTCOMES, ids=repr)
@pytest.mark.parametrize("priority", ["P0", "P2"])
def test_a_rescue_decides_as_the_settle(
    scripted: Scripted,
    reach: Reach,
    take: Accept,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    outcome: Outcome,
    priority: str,
) -> None:
    reach("ana", email="ana@example.com")
    [settled] = take_rows(take, 1, priority=priority)
    [rescued] = take_rows(take, 1, priority=priority, user_id="ana")
    with django_capture_on_commit_callbacks(execute=True):
        after_rescue = _rescue(rescued, outcome, has_next=False)
    scripted.answer = lambda batch: ((each, outcome) for each in batch)
    deliver.deliver([settled])
    after_settle = Delivery.objects.get(id=settled)
    assert len(set(Contact.objects.values_list("invalid_reason", flat=True))) == 1
    listed = isinstance(outcome, Rejected) and (outcome.contact_is_dead or outcome.has_opted_out)
    assert Suppression.objects.count() == (2 if listed else 0)
    # The wait of a retry has passed with the lease.
    as_rescued = {Status.RETRYING: Status.QUEUED} if isinstance(outcome, Unavailable) else {}
    expected = as_rescued.get(Status(after_settle.status), Status(after_settle.status))
    assert Status(after_rescue.status) == expected
    spent = [each.attempts - each.attempts_before for each in (after_rescue, after_settle)]
    assert spent[0] == spent[1]
    assert after_rescue.provider_message_id == after_settle.provider_message_id
    if isinstance(outcome, Throttled):
        assert after_rescue.due_at is not None
        assert after_settle.due_at is not None
        assert abs(after_rescue.due_at - after_settle.due_at) < dt.timedelta(minutes=2)


@pytest.mark.parametrize(
    "outcome",
    [
        Rejected(code="region", another_provider_may_accept=True),
        Throttled(code="429"),
        Unavailable(code="503"),
        Misconfigured(code="401"),
    ],
    ids=repr,
)
def test_a_worker_killed_before_the_failover_leaves_the_row_to_the_next_provider(
    scripted: Scripted, add_vendor: AddVendor, take: Accept, outcome: Outcome
) -> None:
    add_vendor("second", repeat=Repeat.VISIBLE)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="second", rank=2)
    [row] = take_rows(take, 1, priority="P0")
    found = _rescue(row, outcome, has_next=True)
    assert (found.status, found.reason) == (Status.QUEUED, "worker_lost")
    scripted.answer = lambda batch: ((each, outcome) for each in batch)
    deliver.deliver([row])
    found = Delivery.objects.get(id=row)
    assert (found.status, found.provider) == (Status.SENT, "second")


def test_a_refusal_of_unknown_circumstances_is_tried_again_if_another_provider_may_accept(
    scripted: Scripted,  # noqa: ARG001 - configured
    take: Accept,
) -> None:
    [row] = take_rows(take, 1)
    found = _rescue(row, Rejected(code="region", another_provider_may_accept=True))
    assert found.status == Status.QUEUED


def test_an_answered_row_of_many_deaths_can_be_claimed_again(
    scripted: Scripted,  # noqa: ARG001 - configured
    take: Accept,
) -> None:
    [row] = take_rows(take, 1)
    attempt = _call(row)
    sent_ledger.write([LedgerEntry(row, attempt, "scripted", Unavailable(code="503"))])
    Delivery.objects.filter(id=row).update(claims=5)
    rescue.rescue([lapse(row)])
    Delivery.objects.filter(id=row).update(due_at=transaction_now())  # on a slow machine as well
    assert [each.id for each in claims.claim([row], now=clock.now()).deliveries] == [row]


def test_a_refusal_of_a_dead_worker_that_can_mean_a_wrong_setting_keeps_the_contact(
    scripted: Scripted,  # noqa: ARG001 - configured
    take: Accept,
) -> None:
    [row] = take_rows(take, 1)
    wrong = Rejected(code="BadDeviceToken", contact_is_dead=True, may_be_misconfigured=True)
    assert _rescue(row, wrong, has_next=False).status == Status.FAILED
    assert not Contact.objects.exclude(invalidated_at=None).exists()


def test_many_refusals_of_a_dead_worker_kill_no_contact_and_no_message(
    scripted: Scripted,  # noqa: ARG001 - configured
    take: Accept,
) -> None:
    rows = take_rows(take, 30)
    for row in rows:
        entry = LedgerEntry(
            row, _call(row), "scripted", Rejected(code="gone", contact_is_dead=True)
        )
        sent_ledger.write([entry])
    rescue.rescue([lapse(row) for row in rows])
    held = Delivery.objects.filter(status=Status.SCHEDULED, reason="provider_misconfigured")
    assert held.count() >= 20


def test_a_refusal_that_the_breaker_has_believed_is_settled_with_many_others(
    scripted: Scripted,  # noqa: ARG001 - configured
    take: Accept,
) -> None:
    rows = take_rows(take, 30)
    for row in rows:
        refused = Rejected(code="bad")
        sent_ledger.write([LedgerEntry(row, _call(row), "scripted", refused, is_judged=True)])
    rescue.rescue([lapse(row) for row in rows])
    assert set(statuses(rows)) == {Status.FAILED}


def test_an_entry_of_another_claim_is_no_evidence(
    scripted: Scripted,  # noqa: ARG001 - its repeats are visible
    take: Accept,
) -> None:
    [row] = take_rows(take, 1)
    attempt = _call(row)
    entry = LedgerEntry(row, attempt, "scripted", NotStarted(), token=UUID(int=1))
    sent_ledger.write([entry])
    rescue.rescue([lapse(row)])
    assert statuses([row]) == [Status.UNKNOWN]
