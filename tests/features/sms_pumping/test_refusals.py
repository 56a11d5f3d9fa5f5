"""P0 and P1 posts above the ceilings of SMS pumping protection."""

from __future__ import annotations

import datetime as dt
import multiprocessing
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest
from django.db import DatabaseError, connection

from notifications.core import clock
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, BatchResult, Caller, Refused
from notifications.core.models import Notification, Producer, Rejected
from notifications.core.rules import request
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.rules.sensitive import Sensitive
from notifications.core.store.postgres import inserts
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.redis import state
from notifications.features.sms_pumping import counts as sms_ceilings
from notifications.features.sms_pumping import policy as sms_policy
from notifications.features.sms_pumping.counts import SmsRequest
from notifications.features.sms_pumping.models import SmsLimits, SmsOverride, SmsTraffic
from notifications.features.sms_pumping.rules.ceilings import CeilingLimits, Policy
from tests.journey import Reach

NUMBER: Final = "+4915112345678"
_FLOORS: Final = Policy()
_MINUTES: Final = dt.timedelta(minutes=10)


@pytest.fixture
def producer(caller: Caller) -> Iterator[Caller]:
    """A producer that posts; nothing is learned."""
    sms_policy.forget()
    yield replace(caller, is_post=True)
    sms_policy.forget()


def _asked(user_id: str = "maria", **fields: object) -> NotificationRequest:
    body = {
        "user_id": user_id,
        "type": "OTP",
        "priority": "P0",
        "channels": ["sms"],
        "content": {"body": "1234"},
        **fields,
    }
    parsed = request.parse(body)
    assert not isinstance(parsed, Problem), parsed
    return parsed


def _kinds(producer: Caller, *asked: NotificationRequest) -> list[Kind | None]:
    answers = accept.accept(producer, asked)
    return [each.problem.kind if isinstance(each, Refused) else None for each in answers]


def _learn(totals: dict[str, int], *, producer_id: int = 0) -> None:
    """Store two weeks of traffic: the SMS of a day by country."""
    today = clock.now().date()
    counts = {**totals, "*": sum(totals.values())}
    SmsTraffic.objects.bulk_create(
        SmsTraffic(
            day=today - dt.timedelta(days=back),
            ceiling="country",
            producer_id=producer_id,
            name=name,
            peak=count // 10,
            total=count,
        )
        for back in range(14)
        for name, count in counts.items()
    )
    sms_policy.forget()


def test_the_eleventh_message_to_a_number_is_refused_with_a_wait(
    producer: Caller, reach: Reach
) -> None:
    reach(sms=NUMBER)
    answers = accept.accept(producer, [_asked() for _ in range(11)])
    assert all(isinstance(each, AcceptedRequest) for each in answers[:10])
    last = answers[10]
    assert isinstance(last, Refused)
    assert last.problem.kind is Kind.SMS_PUMPING_ADDRESS
    assert last.problem.retry_after is not None
    assert dt.timedelta(minutes=9) < last.problem.retry_after <= _MINUTES
    assert Notification.objects.count() == 10
    assert Rejected.objects.get().problem == "sms-pumping-address"
    [told] = sms_ceilings.refusals(_recent())
    assert (told.ceiling, told.prefix, told.country, told.refused) == (
        "address",
        "4915112",
        "DE",
        1,
    )


def test_two_recipients_with_one_number_share_its_ceiling(producer: Caller, reach: Reach) -> None:
    reach("maria", sms=NUMBER)
    reach("paul", sms=NUMBER)
    assert _kinds(producer, *[_asked() for _ in range(10)]) == [None] * 10
    assert _kinds(producer, _asked("paul")) == [Kind.SMS_PUMPING_ADDRESS]


@pytest.mark.parametrize(
    "fields",
    [{"priority": "P2"}, {"scheduled_at": "2030-01-01T00:00:00Z"}],
    ids=["patient", "scheduled"],
)
def test_other_messages_are_not_counted(
    producer: Caller, reach: Reach, fields: dict[str, Any]
) -> None:
    reach(sms=NUMBER)
    if "scheduled_at" in fields:
        fields = {"scheduled_at": (clock.now() + dt.timedelta(hours=5)).isoformat()}
    assert _kinds(producer, *[_asked(**fields) for _ in range(12)]) == [None] * 12


def test_test_mode_has_no_ceilings(producer: Caller, reach: Reach) -> None:
    reach(sms=NUMBER)
    tester = replace(producer, mode=Mode.TEST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sms_ceilings, "count", None)
        assert _kinds(tester, _asked()) == [Kind.UNKNOWN_RECIPIENT]


def test_a_repeat_with_the_same_key_is_not_counted_twice(producer: Caller, reach: Reach) -> None:
    reach(sms=NUMBER)
    same = _asked(idempotency_key="code-1")
    for _ in range(15):
        assert _kinds(producer, same) == [None]
    assert _kinds(producer, same, same, same) == [None] * 3
    assert _kinds(producer, *[_asked() for _ in range(10)]) == [None] * 9 + [
        Kind.SMS_PUMPING_ADDRESS
    ]


def test_a_refused_post_is_accepted_later_with_the_same_key(producer: Caller, reach: Reach) -> None:
    reach(sms=NUMBER)
    assert _kinds(producer, *[_asked() for _ in range(10)]) == [None] * 10
    late = _asked(idempotency_key="code-1")
    assert _kinds(producer, late) == [Kind.SMS_PUMPING_ADDRESS]
    state.client().delete(_request().key)  # ten minutes later
    [answer] = accept.accept(producer, [late])
    assert isinstance(answer, AcceptedRequest)
    assert not answer.replayed
    assert Notification.objects.filter(idempotency_key="code-1").count() == 1


def test_rows_that_were_not_stored_are_not_counted(
    producer: Caller, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(sms=NUMBER)

    def fail(*_args: object, **_more: object) -> None:
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(inserts, "deliveries", fail)
        for _ in range(3):
            with pytest.raises(DatabaseError):
                accept.accept(producer, [_asked()] * 4)
    assert _kinds(producer, *[_asked() for _ in range(10)]) == [None] * 10
    assert _count("4915112") == 10


@pytest.mark.django_db(transaction=True)
def test_a_post_of_a_process_killed_before_the_commit_counts_once(
    producer: Caller, reach: Reach
) -> None:
    reach(sms=NUMBER)
    same = _asked(idempotency_key="code-1")
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        process = context.Process(target=_post_and_die, args=(producer, same))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    assert Notification.objects.count() == 0
    assert _count("4915112") == 1
    assert _kinds(producer, same) == [None]
    assert _count("4915112") == 1


def _post_and_die(producer: Caller, asked: NotificationRequest) -> None:
    """Kill the process between the count and the commit; the process has its own connections."""
    state.forget()
    connection.connection = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inserts, "deliveries", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        accept.accept(producer, [asked])


def test_a_whole_call_that_is_refused_stores_no_answer(producer: Caller, reach: Reach) -> None:
    reach(sms=NUMBER)
    accept.accept(producer, [_asked() for _ in range(10)])
    body = Fingerprint(Sensitive(b"body"))
    problem = accept.accept_once(producer, "whole", body, [_asked(), _asked()])
    assert isinstance(problem, Problem)
    assert problem.kind is Kind.SMS_PUMPING_ADDRESS
    state.client().delete(_request().key)
    answer = accept.accept_once(producer, "whole", body, [_asked(), _asked()])
    assert isinstance(answer, BatchResult)
    assert not answer.replayed


def test_an_attack_on_a_thousand_numbers_of_a_prefix_is_refused_after_the_floor(
    producer: Caller, reach: Reach
) -> None:
    for number in range(200):
        reach(f"bot{number}", sms=f"+23480312{number:05}")
    answers = _kinds(producer, *[_asked(f"bot{number}") for number in range(200)])
    assert answers == [None] * 50 + [Kind.SMS_PUMPING_PREFIX] * 150


def test_an_attack_on_many_prefixes_of_a_rare_country_is_refused_by_share(
    producer: Caller, reach: Reach
) -> None:
    _learn({"DE": 2_000, "AT": 200, "NG": 2})
    for number in range(130):
        reach(f"bot{number}", sms=f"+23480{number:03}45678")
    answers = _kinds(producer, *[_asked(f"bot{number}") for number in range(130)])
    assert answers == [None] * 100 + [Kind.SMS_PUMPING_COUNTRY] * 30


def test_a_producer_with_one_country_is_refused_for_another_countrys_attack(
    producer: Caller,
) -> None:
    _learn({"DE": 2_000, "NG": 2_000})
    _learn({"DE": 500}, producer_id=producer.producer_id)
    answers = _counts(producer, (f"+23480{number:03}45678" for number in range(130)), "NG")
    assert answers == [None] * 100 + ["producer_country"] * 30


def test_a_national_campaign_is_not_refused(producer: Caller) -> None:
    _learn({"DE": 2_000, "AT": 200})
    # 14,000 codes at once, 70 to each of 200 prefixes, beside 2,000 on a usual day
    numbers = (f"+49{150 + n % 10}{n // 10 % 20:02}{n:06}" for n in range(14_000))
    assert set(_counts(producer, numbers, "DE")) == {None}


def test_a_doubled_traffic_of_all_countries_is_not_refused(producer: Caller) -> None:
    usual = {"DE": 6_000, "AT": 2_000, "CH": 1_500}  # the peak of an hour is a tenth
    _learn(usual)
    codes = {"DE": "49151", "AT": "43664", "CH": "41791"}
    for country, count in usual.items():
        numbers = (f"+{codes[country]}{n % 100:02}{n:05}" for n in range(count // 10 * 2))
        assert set(_counts(producer, numbers, country)) == {None}


def test_two_processes_share_the_last_permitted_send(producer: Caller) -> None:
    requests = [_request(bytes([n])) for n in range(9)]
    assert all(each.refused_by is None for each in sms_ceilings.count(requests))
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        found = pool.map(_count_in_process, [b"left", b"right"], chunksize=1)
    assert sorted(found) == ["None", "address"]
    del producer


def _count_in_process(member: bytes) -> str:
    state.forget()
    [answer] = sms_ceilings.count([_request(member)])
    return str(answer.refused_by)


@pytest.mark.usefixtures("producer")
def test_a_window_that_ends_frees_the_ceilings_little_by_little() -> None:
    number = int(clock.now().timestamp()) // 600
    policy = Policy(CeilingLimits(prefix_floor=50))
    prefixes, before = sms_ceilings.PREFIXES, 200
    state.client().hset(f"{prefixes}:{number - 1}", "4915112", before)
    answers = sms_ceilings.count([_request(bytes([n]), policy, n) for n in range(60)])
    taken = sum(each.refused_by is None for each in answers)
    # At the edge of an interval the former count still applies, in proportion to the window.
    passed = clock.now().timestamp() % 600 / 600
    if int(clock.now().timestamp()) // 600 == number:
        assert abs(taken - max(0, min(50, 50 - before * (1 - passed)))) <= 3
    refused = [each for each in answers if each.refused_by]
    assert all(dt.timedelta(0) < each.wait <= 2 * _MINUTES for each in refused)


def test_overrides_raise_a_ceiling_and_an_ended_one_does_not(
    producer: Caller, reach: Reach
) -> None:
    reach(sms=NUMBER)
    row = SmsOverride.objects.create(ceiling="address", value="4915112345678", reason="QA")
    sms_policy.forget()
    assert _kinds(producer, *[_asked() for _ in range(12)]) == [None] * 12
    SmsOverride.objects.filter(pk=row.pk).update(ends_at=clock.now())
    sms_policy.forget()
    assert _kinds(producer, _asked()) == [Kind.SMS_PUMPING_ADDRESS]


def test_without_enforcement_messages_leave_and_refusals_are_recorded(
    producer: Caller, reach: Reach
) -> None:
    reach(sms=NUMBER)
    SmsLimits.objects.create(is_enforced=False)
    sms_policy.forget()
    assert _kinds(producer, *[_asked() for _ in range(12)]) == [None] * 12
    assert sms_ceilings.refusals(_recent())[0].refused == 2


def test_without_the_state_redis_every_message_is_accepted(
    producer: Caller, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(sms=NUMBER)

    def away(*_args: object) -> None:
        raise state.Away

    monkeypatch.setattr(state, "call", away)
    assert _kinds(producer, *[_asked() for _ in range(12)]) == [None] * 12


@pytest.mark.parametrize("priority", ["P0", "P3"])
def test_a_country_that_the_producer_may_not_use_is_refused(
    producer: Caller, reach: Reach, priority: str
) -> None:
    reach("maria", sms=NUMBER)
    reach("ade", sms="+2348031234567")
    Producer.objects.filter(pk=producer.producer_id).update(sms_countries=["DE"])
    sms_policy.forget()
    answers = accept.accept(producer, [_asked(priority=priority), _asked("ade", priority=priority)])
    assert isinstance(answers[0], AcceptedRequest)
    assert isinstance(answers[1], Refused)
    assert answers[1].problem.kind is Kind.COUNTRY_NOT_ALLOWED
    assert answers[1].problem.errors[0].pointer == "/user_id"


def _recent() -> list[int]:
    number = int(clock.now().timestamp()) // 600
    return [number - 1, number]


def _count(prefix: str) -> int:
    found = sms_ceilings.counts_of(sms_ceilings.PREFIXES, _recent())
    return sum(each.get(prefix, 0) for each in found)


def _request(
    member: bytes = b"", policy: Policy = _FLOORS, last: int = 78, producer_id: int = 1
) -> SmsRequest:
    number = f"+491511234{last:04}" if last != 78 else NUMBER
    found = policy.of(number, country="DE", producer_id=producer_id, now=clock.now())
    assert found is not None
    return SmsRequest(member, number, "DE", producer_id, found)


def _counts(producer: Caller, numbers: Iterator[str], country: str) -> list[str | None]:
    """Count an SMS to each number; returns the ceilings that refuse."""
    policy = sms_policy.current()
    requests = []
    for place, number in enumerate(numbers):
        limits = policy.of(
            number, country=country, producer_id=producer.producer_id, now=clock.now()
        )
        assert limits is not None
        member = f"{country}{place}".encode()
        requests.append(SmsRequest(member, number, country, producer.producer_id, limits))
    found: list[str | None] = []
    for at in range(0, len(requests), 1_000):
        answers = sms_ceilings.count(requests[at : at + 1_000])
        found += [each.refused_by and each.refused_by.value for each in answers]
    return found
