"""Calls that come at the same time share a run; one that fails or waits harms no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Thread
from unittest.mock import Mock
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction

from notifications.core import clock, conf
from notifications.core.feedback import delivery_receipts
from notifications.core.intake import accept, group_commit, new_rows, plan
from notifications.core.intake.accept import AcceptedRequest, Caller, IntakeRequest, Refused, Single
from notifications.core.intake.group_commit import NothingStored
from notifications.core.intake.helper_threads import HelperThreads
from notifications.core.models import Delivery, IdempotencyKey, Notification, Producer, Rejected
from notifications.core.rules import request
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.states import Status
from notifications.core.store.rate_limits.producer_limits import Charge
from providers.contract import Receipt, ReceiptKind
from tests.intake.group_runs import SECONDS, Outcomes, Runs
from tests.interleaving import key_being_stored
from tests.journey import Reach


def _store_nothing_of_several(calls: Sequence[int]) -> None:
    if len(calls) > 1:
        raise NothingStored


def test_a_call_alone_runs_at_once_and_leaves_nobody_leading() -> None:
    runs = Runs()
    runs.go_on.set()
    assert [runs.group.run(call) for call in (1, 2)] == [2, 4]
    assert (runs.groups, runs.finished) == ([[1], [2]], [1, 1])


def test_calls_that_come_during_a_run_are_the_next_group() -> None:
    runs = Runs()
    assert runs.with_a_group_of([2, 3, 4, 5]) == [4, 6, 8, 10]
    first, second = runs.groups
    assert (first, sorted(second)) == ([1], [2, 3, 4, 5])
    assert runs.finished == [1, 4]


def test_a_group_that_stored_nothing_runs_one_by_one_and_only_the_bad_call_fails() -> None:
    def fail(calls: Sequence[int]) -> None:
        if len(calls) > 1:
            raise NothingStored

    runs = Runs(fails=fail)
    *good, bad = runs.with_a_group_of([2, 3, -4])
    assert good == [4, 6]
    assert isinstance(bad, ValueError)
    assert sorted(runs.alone) == [2, 3]
    assert runs.group.run(7) == 14


def test_an_error_whose_outcome_nobody_knows_is_told_to_all_and_the_next_call_is_fine() -> None:
    def fail(calls: Sequence[int]) -> None:
        if len(calls) > 1:
            raise OSError("the server went away")

    runs = Runs(fails=fail)
    assert all(isinstance(got, OSError) for got in runs.with_a_group_of([2, 3, 4]))
    assert runs.alone == []
    assert runs.group.run(7) == 14


def test_a_submitted_call_alone_is_told_in_its_own_thread() -> None:
    runs, told = Runs(), Outcomes()
    runs.go_on.set()
    told.submit(runs, [1, 2])
    assert told.next(2) == [2, 4]
    assert (runs.groups, runs.finished, runs.group._is_led) == ([[1], [2]], [1, 1], False)


@pytest.mark.parametrize("leads_by_submit", [True, False])
def test_submitted_and_waiting_calls_share_groups_and_each_gets_its_own_answer(
    leads_by_submit: bool,  # noqa: FBT001 - a parameter of pytest
) -> None:
    runs, told = Runs(), Outcomes()
    with ThreadPoolExecutor(3) as pool:
        if leads_by_submit:
            pool.submit(told.submit, runs, [1])
        else:
            pool.submit(runs.group.run, 1)
        assert runs.began.wait(SECONDS)
        told.submit(runs, [2, 3])
        waits = pool.submit(runs.group.run, 4)
        while len(runs.group._waiting) < 3:
            assert not waits.done()
        runs.go_on.set()
        assert waits.result(SECONDS) == 8
        assert told.next(2 + leads_by_submit) == [2, 4, 6][-2 - leads_by_submit :]
    assert sorted(runs.groups[1]) == [2, 3, 4]
    assert runs.group.run(7) == 14


def test_submitted_calls_of_a_group_that_stored_nothing_run_alone() -> None:
    runs, told = Runs(fails=_store_nothing_of_several), Outcomes()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(runs.group.run, 1)
        assert runs.began.wait(SECONDS)
        told.submit(runs, [2, 3, -4])
        runs.go_on.set()
        assert first.result(SECONDS) == 2
        *good, bad = told.next(3)
    assert good == [4, 6]
    assert isinstance(bad, ValueError)
    assert sorted(runs.alone) == [2, 3]
    assert runs.group.run(7) == 14


def test_an_error_of_a_group_is_told_to_each_submitted_call_once() -> None:
    def fail(_calls: Sequence[int]) -> None:
        raise OSError("the server went away")

    runs, told = Runs(fails=fail), Outcomes()
    runs.go_on.set()
    told.submit(runs, [1, 2])
    assert all(isinstance(each, OSError) for each in told.next(2))
    assert not runs.group._is_led


@pytest.mark.parametrize("fails", [lambda _calls: None, _store_nothing_of_several])
def test_submitted_calls_are_told_while_no_further_thread_can_start(
    fails: Callable[[Sequence[int]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers = HelperThreads(4, name="test")
    helpers.start()
    monkeypatch.setattr(group_commit, "helpers", helpers)
    runs, told = Runs(fails=fails), Outcomes()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(told.submit, runs, [1])
        assert runs.began.wait(SECONDS)
        told.submit(runs, [2, 3, 4])
        monkeypatch.setattr(Thread, "start", Mock(side_effect=RuntimeError))
        runs.go_on.set()
        assert told.next(4) == [2, 4, 6, 8]
    helpers.shutdown()


# --- Accepting


def _single(caller: Caller, *, burst: int = 1000, **fields: object) -> Single:
    body = {"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}, **fields}
    wanted = request.parse(body)
    assert not isinstance(wanted, Problem), wanted
    charge = Charge(
        producer_id=caller.producer_id, mode=caller.mode, cost=1, rate_per_second=1, burst=burst
    )
    return Single(IntakeRequest(caller, wanted), charge)


@pytest.fixture
def other(caller: Caller) -> Caller:
    """Another producer."""
    return replace(caller, producer_id=Producer.objects.create(name="others").pk)


def _taken(answer: AcceptedRequest | Refused | None) -> AcceptedRequest:
    assert isinstance(answer, AcceptedRequest), answer
    return answer


def _kinds(answers: Sequence[tuple[AcceptedRequest | Refused | None, object]]) -> list[str]:
    words = []
    for answer, _quota in answers:
        if isinstance(answer, Refused):
            words.append(answer.problem.kind.value)
        else:
            words.append("over" if answer is None else "again" if answer.replayed else "taken")
    return words


def test_a_group_is_one_transaction_and_each_call_gets_its_own_answer(
    reach: Reach, caller: Caller, other: Caller
) -> None:
    reach(email="maria@sandbox.example")
    answers, finish = accept._run_group([
        _single(caller, idempotency_key="k"),
        _single(caller, idempotency_key="k"),
        _single(caller, idempotency_key="k", priority="P1"),
        _single(other, idempotency_key="k"),
        _single(caller, user_id="nobody"),
        _single(replace(caller, may_send_content=False)),
        _single(other),
    ])
    finish()
    reused, unknown = Kind.KEY_REUSED.value, Kind.UNKNOWN_RECIPIENT.value
    assert _kinds(answers) == [
        *("taken", "again", reused, "taken"),
        *(unknown, Kind.FORBIDDEN.value, "taken"),
    ]
    assert _taken(answers[0][0]).response == _taken(answers[1][0]).response
    with connection.cursor() as running:
        running.execute("SELECT count(*), count(DISTINCT xmin::text) FROM notification")
        assert running.fetchone() == (3, 1)
    assert sorted(Notification.objects.values_list("producer_id", flat=True)) == sorted([
        caller.producer_id,
        *[other.producer_id] * 2,
    ])
    assert Rejected.objects.count() == 2


def test_in_a_group_each_producer_has_its_own_limit(
    reach: Reach, caller: Caller, other: Caller
) -> None:
    reach(email="maria@sandbox.example")
    answers, _ = accept._run_group([
        *[_single(caller, burst=2) for _ in range(4)],
        _single(other, burst=2),
    ])
    assert _kinds(answers) == ["taken", "taken", "over", "over", "taken"]
    assert [quota.remaining for _, quota in answers] == [1, 0, 0, 0, 1]
    assert Notification.objects.count() == 3


def test_a_call_that_cannot_be_planned_fails_alone(
    reach: Reach, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    usual = plan.plan_request

    def plan_request(ask: IntakeRequest, *known: object) -> object:
        if ask.request.collapse_key == "bad":
            raise ZeroDivisionError
        return usual(ask, *known)  # type: ignore[arg-type]  # whatever the caller gave

    monkeypatch.setattr(accept, "plan_request", plan_request)
    good, bad = _single(caller), _single(caller, collapse_key="bad")
    with pytest.raises(NothingStored):
        accept._run_group([good, bad])
    assert Notification.objects.count() == 0
    assert _kinds([accept._run_alone(good)]) == ["taken"]
    with pytest.raises(ZeroDivisionError):
        accept._run_alone(bad)


@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_being_stored_makes_only_its_own_call_wait(
    reach: Reach, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    start = Barrier(5)

    def run(single: Single) -> str:
        try:
            start.wait(SECONDS)
            return _kinds([accept.accept_one(single)])[0]
        finally:
            connection.close()

    calls = [_single(caller, idempotency_key=name) for name in ("a", "b", "locked", "c", "d")]
    with key_being_stored(caller.producer_id, caller.mode, "locked"), ThreadPoolExecutor(5) as pool:
        words = list(pool.map(run, calls))
    assert words == ["taken", "taken", Kind.IN_PROGRESS.value, "taken", "taken"]
    assert Notification.objects.count() == 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("size", [2, 30])
def test_a_group_of_any_size_waits_for_a_key_for_a_short_time_only(
    reach: Reach, caller: Caller, size: int
) -> None:
    reach(email="maria@sandbox.example")
    calls = [_single(caller, idempotency_key=f"k{number}") for number in range(size)]

    def run() -> BaseException | None:
        try:
            with connection.cursor() as running:
                running.execute("SET lock_timeout = 0")
            accept._run_group(calls)
        except NothingStored as error:
            return error
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(1) as pool, key_being_stored(caller.producer_id, caller.mode, "k1"):
        assert isinstance(pool.submit(run).result(SECONDS), NothingStored)
    assert Notification.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_one_key_in_many_threads_is_one_notification(reach: Reach, caller: Caller) -> None:
    reach(email="maria@sandbox.example")
    threads, rounds = 8, 10
    start = Barrier(threads)

    def run(_thread: int) -> list[str]:
        try:
            words = []
            for turn in range(rounds):
                start.wait(SECONDS)
                words += _kinds([accept.accept_one(_single(caller, idempotency_key=f"k{turn}"))])
            return words
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        words = [word for each in pool.map(run, range(threads)) for word in each]
    assert (words.count("taken"), words.count("again")) == (rounds, rounds * (threads - 1))
    assert Notification.objects.count() == rounds


@pytest.mark.django_db(transaction=True)
def test_what_nobody_knows_to_be_stored_is_not_stored_again(
    reach: Reach, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    usual = new_rows._insert

    def insert(*arguments: object, **options: object) -> None:
        usual(*arguments, **options)  # type: ignore[arg-type]  # whatever the caller gave
        connection.close()
        raise OperationalError("the connection broke before the answer came")

    monkeypatch.setattr(new_rows, "_insert", insert)
    with pytest.raises(OperationalError):
        accept._run_group([_single(caller), _single(caller)])
    assert Notification.objects.count() == 2


def test_a_key_past_its_time_is_new_even_if_nobody_has_deleted_it(
    reach: Reach, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    accept._run_group([_single(caller, idempotency_key="k")])
    IdempotencyKey.objects.update(expires_at=clock.now() - conf.current().idempotency_keys_kept)
    answers, _ = accept._run_group([_single(caller, idempotency_key="k", priority="P1")])
    assert _kinds(answers) == ["taken"]
    [kept] = IdempotencyKey.objects.all()
    assert kept.expires_at > clock.now()


def test_a_taken_key_leaves_the_transaction_around_it_whole(reach: Reach, caller: Caller) -> None:
    reach(email="maria@sandbox.example")
    with transaction.atomic():
        stale = accept._prepare([_single(caller, idempotency_key="k").ask])
        accept._run_group([_single(caller, idempotency_key="k")])
        found = accept._store(stale)
        assert [_taken(accept._result(each, found)).replayed for each in stale.plans] == [True]
    assert Notification.objects.count() == 1


# --- Receipts


def test_receipts_of_a_group_are_counted_for_the_callback_that_told_them(
    reach: Reach, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    answers, _ = accept._run_group([_single(caller) for _ in range(2)])
    ids = [
        UUID(each["delivery_id"])
        for answer, _ in answers
        for each in _taken(answer).response["deliveries"]
    ]
    Delivery.objects.filter(id__in=ids).update(status=Status.SENT, provider="mailer", due_at=None)
    told = [Receipt(kind=ReceiptKind.DELIVERED, delivery_id=each) for each in ids]
    stranger = Receipt(kind=ReceiptKind.DELIVERED, provider_message_id="never heard of")
    counts, _ = delivery_receipts._group._together([
        delivery_receipts._Callback("mailer", told[:1]),
        delivery_receipts._Callback("mailer", [*told, stranger]),
        delivery_receipts._Callback("somebody else", told),
    ])
    assert counts == [1, 1, 0]
    statuses = Delivery.objects.filter(id__in=ids).values_list("status", flat=True)
    assert set(statuses) == {Status.DELIVERED}
    assert delivery_receipts.record("mailer", told) == 0


@pytest.mark.usefixtures("caller")
def test_a_callback_that_cannot_be_applied_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = delivery_receipts._apply

    def applied(provider: str, told: Sequence[tuple[Receipt, UUID]]) -> set[UUID]:
        if provider == "broken":
            raise OperationalError("canceling statement due to lock timeout")
        return usual(provider, told)

    monkeypatch.setattr(delivery_receipts, "_apply", applied)
    fine, broken = (
        delivery_receipts._Callback("mailer", []),
        delivery_receipts._Callback("broken", []),
    )
    with pytest.raises(NothingStored):
        delivery_receipts._group._together([fine, broken])
    assert delivery_receipts._group._alone(fine) == 0
    with pytest.raises(OperationalError):
        delivery_receipts._group._alone(broken)
