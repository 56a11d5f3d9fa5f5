"""Providers that rest and providers that are slow: what waits, what goes, and that nothing is lost.

Two providers over real sockets: `sandbox`, and `acme`, which is the same server under a name of its
own and takes SMS.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock, conf, lanes
from notifications.core.delivery import deliver, routing
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Alert,
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    ProviderPace,
    ProviderRoute,
)
from notifications.core.rules.lane import LANES, Lane, Mode, Priority
from notifications.core.rules.rate_limits.circuit_breaker import (
    PROBE_EVERY,
    BreakerOverride,
    CallStats,
    HealthKey,
)
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import breaker_status, circuit_breakers, send_admission
from notifications.core.store.redis import state
from notifications.core.sweeps import publish_quota
from providers.contract import Channel, Pace
from tests.journey import Accept, AddVendor, Reach, deliveries_of
from tests.store.ageing import age

Outbox = Callable[[UUID], list[Any]]
PUSH = HealthKey("sandbox", Channel.PUSH)
EMAIL = HealthKey("sandbox", Channel.EMAIL)
SMS = HealthKey("acme", Channel.SMS)
P2_PUSH = Lane(Mode.LIVE, Priority.P2, Channel.PUSH)
AT_ONCE = dt.timedelta(0)


_STORES = (circuit_breakers, provider_overrides)


@pytest.fixture(autouse=True)
def _two_providers(caller: Caller, add_vendor: AddVendor) -> Iterator[None]:
    assert caller.producer_id  # the database is ready, Redis is empty
    add_vendor("acme", channels=frozenset({Channel.SMS, Channel.CHAT}))
    ProviderRoute.objects.create(channel=Channel.SMS, provider="acme")
    for store in _STORES:
        store.forget()
    yield
    for store in _STORES:
        store.forget()


@pytest.fixture
def _redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> object:
        raise state.Away

    monkeypatch.setattr(state, "connection", away)


def _row(delivery: Delivery) -> Delivery:
    return Delivery.objects.get(id=delivery.id)


def _reasons(deliveries: list[Delivery]) -> list[tuple[Status, str]]:
    return [(Status(row.status), row.reason) for row in map(_row, deliveries)]


def _due_now(deliveries: list[Delivery]) -> list[UUID]:
    ids = [each.id for each in deliveries]
    Delivery.objects.filter(id__in=ids).update(due_at=TransactionNow())
    return ids


def _trip(key: HealthKey) -> None:
    circuit_breakers.record_calls({key: CallStats(fault="401", faults=1, calls=1)})


def test_ten_failures_in_a_row_open_the_breaker_for_all_who_come_after(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(push=[f"token{number}.503" for number in range(10)])
    reach("ana", push="well")
    deliver.deliver([row.id for row in deliveries_of(take(channels=["push"]))])
    [later] = deliveries_of(take(user_id="ana", channels=["push"]))
    assert deliver.deliver([later.id]) == []  # patient: the relay decides when it looks again
    held = _row(later)
    assert (held.status, held.reason, held.attempts) == (Status.SCHEDULED, "breaker", 0)
    assert held.due_at is not None
    assert dt.timedelta(0) < held.due_at - clock.now() < dt.timedelta(seconds=65)
    assert outbox(later.id) == []


def test_the_urgent_are_published_again_after_the_next_probe(reach: Reach, take: Accept) -> None:
    reach(push=[f"well{number}" for number in range(20)])
    _trip(PUSH)
    rows = deliveries_of(take(channels=["push"], priority="P0"))
    groups = deliver.deliver([row.id for row in rows])
    assert {each for group in groups for each in group.delivery_ids} == {row.id for row in rows}
    assert len(groups) <= 8
    waits = sorted(group.countdown for group in groups)
    assert waits[0] <= dt.timedelta(seconds=1)  # the first is a probe; the others come behind it
    assert dt.timedelta(seconds=2) < waits[-1] <= dt.timedelta(seconds=4)


def test_a_breaker_holds_its_own_provider_and_channel_only(reach: Reach, take: Accept) -> None:
    reach(push="well", sms="+15551234567", email="maria@sandbox.example")
    _trip(SMS)
    _trip(EMAIL)
    rows = deliveries_of(take(channels=["push", "sms", "email"], delivery="all"))
    deliver.deliver([row.id for row in rows])
    assert {(row.channel, row.status, row.provider) for row in map(_row, rows)} == {
        (Channel.PUSH, Status.SENT, "sandbox"),
        (Channel.SMS, Status.SCHEDULED, ""),
        (Channel.EMAIL, Status.SCHEDULED, ""),
    }


def test_one_probe_goes_and_its_success_lets_the_others_follow(reach: Reach, take: Accept) -> None:
    reach(push=["one", "two", "three"])
    _trip(PUSH)
    age(PROBE_EVERY)
    rows = deliveries_of(take(channels=["push"]))
    deliver.deliver([row.id for row in rows])
    found = _reasons(rows)
    assert found.count((Status.SENT, "")) == 1
    assert found.count((Status.SCHEDULED, "breaker")) == 2
    deliver.deliver(_due_now(rows))
    assert _reasons(rows) == [(Status.SENT, "")] * 3
    assert [_row(each).attempts for each in rows] == [1, 1, 1]


def test_our_own_fault_never_makes_dead_letters(
    reach: Reach, take: Accept, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    reach(email="maria+401@sandbox.example")
    rows = [row for _ in range(5) for row in deliveries_of(take(priority="P3"))]
    for _ in range(4):  # P3's policy makes three calls at most
        with django_capture_on_commit_callbacks(execute=True):
            deliver.deliver(_due_now(rows))
        age(PROBE_EVERY)
    assert {reason for _, reason in _reasons(rows)} == {"breaker", "provider_misconfigured"}
    assert all(row.attempts == row.attempts_before for row in map(_row, rows))
    assert not DeadLetter.objects.exists()
    assert set(Alert.objects.values_list("kind", flat=True)) == {
        "breaker_open",
        "provider_misconfigured",
    }
    Contact.objects.update(address="maria@sandbox.example")  # the account is in order again
    deliver.deliver(_due_now(rows))
    deliver.deliver(_due_now(rows))
    assert {status for status, _ in _reasons(rows)} == {Status.SENT}
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_test_keys_pass_and_tell_nothing(reach: Reach, take: Accept) -> None:
    reach(email=["maria+401@sandbox.example"])
    _trip(EMAIL)
    [row] = deliveries_of(take())
    Delivery.objects.filter(id=row.id).update(mode=Mode.TEST)
    deliver.deliver([row.id])
    assert _row(row).reason == "provider_misconfigured"
    circuit_breakers.force(EMAIL.pair, BreakerOverride.AUTO, by="tests")
    assert breaker_status.of([EMAIL])[EMAIL].why == "401"  # what live traffic said


def test_forced_closed_everything_goes(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    first, second = deliveries_of(take())[0], deliveries_of(take())[0]
    _trip(EMAIL)
    deliver.deliver([first.id])
    circuit_breakers.force(EMAIL.pair, BreakerOverride.CLOSED, by="tests")
    deliver.deliver([second.id])
    assert _reasons([first, second]) == [(Status.SCHEDULED, "breaker"), (Status.SENT, "")]


def _slow(burst: int, per_second: float) -> None:
    ProviderPace.objects.create(provider="sandbox", burst=burst, per_second=per_second)
    provider_overrides.forget()


def test_each_gets_its_slot_and_does_not_ask_again(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(push=[f"well{number}" for number in range(6)])
    _slow(2, 4)
    rows = deliveries_of(take(channels=["push"], priority="P1"))
    groups = deliver.deliver([row.id for row in rows])
    assert [_reasons(rows).count(each) for each in _SENT_OR_HELD] == [2, 4]
    assert sorted(group.countdown.total_seconds() for group in groups) == [0.25, 0.5, 0.75, 1.0]
    waiting = [row for row in map(_row, rows) if row.reason]
    slots = {row.id: row.slot_at for row in waiting}
    assert {row.slot_provider for row in waiting} == {"sandbox"}
    asked: list[int] = []
    real = send_admission.check

    def listen(wanted: list[send_admission.AdmissionRequest]) -> list[send_admission.Admission]:
        asked.extend(each.count for each in wanted)
        return real(wanted)

    monkeypatch.setattr(send_admission, "check", listen)
    _due_now(waiting)  # the message came too soon
    deliver.deliver([row.id for row in waiting])
    still = {row.id: row.slot_at for row in map(_row, waiting) if row.reason}
    assert still.items() <= slots.items()
    come = TransactionNow() - dt.timedelta(seconds=1)
    Delivery.objects.filter(id__in=slots).update(slot_at=come, due_at=come)
    deliver.deliver(list(slots))
    assert set(asked) == {0}
    assert _reasons(rows) == [(Status.SENT, "")] * 6
    assert {_row(each).slot_at for each in rows} == {None}  # spent


_SENT_OR_HELD = [(Status.SENT, ""), (Status.SCHEDULED, "provider_bucket")]


def test_a_slot_that_is_long_over_is_asked_for_again(reach: Reach, take: Accept) -> None:
    reach(push=["one", "two"])
    _slow(1, 1)
    rows = deliveries_of(take(channels=["push"], priority="P1"))
    past = TransactionNow() - dt.timedelta(seconds=10)
    Delivery.objects.filter(id=rows[0].id).update(slot_provider="sandbox", slot_at=past)
    deliver.deliver([row.id for row in rows])
    assert sorted(_reasons(rows)) == sorted(_SENT_OR_HELD)


def test_the_patient_wait_without_a_slot_beyond_two_seconds(reach: Reach, take: Accept) -> None:
    reach(push=[f"well{number}" for number in range(9)])
    _slow(1, 1)
    rows = deliveries_of(take(channels=["push"]))
    groups = deliver.deliver([row.id for row in rows])
    held = [row for row in map(_row, rows) if row.reason]
    with_slot = [row for row in held if row.slot_at]
    assert [len(held), len(with_slot)] == [8, 1]
    assert [group.delivery_ids for group in groups] == [[row.id] for row in with_slot]
    dues = sorted(row.due_at for row in held if row.due_at)
    assert dues[-1] - dues[0] > dt.timedelta(seconds=7)


@pytest.mark.usefixtures("_redis_is_away")
def test_without_redis_breakers_and_buckets_hold_nothing(reach: Reach, take: Accept) -> None:
    reach(push=[f"well{number}" for number in range(9)])
    _slow(20, 1)
    _trip(PUSH)
    rows = deliveries_of(take(channels=["push"], priority="P1"))
    assert deliver.deliver([row.id for row in rows]) == []
    assert _reasons(rows) == [(Status.SENT, "")] * 9


@pytest.mark.usefixtures("caller")
def test_the_relay_hands_out_one_patient_row_a_probe_while_all_rest() -> None:
    urgent = Lane(Mode.LIVE, Priority.P1, Channel.PUSH)
    test = Lane(Mode.TEST, Priority.P2, Channel.PUSH)
    depths = dict.fromkeys((P2_PUSH, urgent, test), 0)
    unlimited = publish_quota.quotas(depths)
    assert unlimited[P2_PUSH] == conf.current().broker_messages * lanes.CHUNK
    _trip(PUSH)
    assert publish_quota.quotas(depths) == {each: unlimited[each] for each in (urgent, test)}
    age(PROBE_EVERY)
    assert publish_quota.quotas(depths)[P2_PUSH] == 1
    assert P2_PUSH not in publish_quota.quotas({P2_PUSH: 1})  # it is on its way


@pytest.mark.usefixtures("caller")
def test_the_relays_together_are_no_faster_than_the_providers() -> None:
    _slow(100, 10)
    depths = dict.fromkeys(LANES, 0)
    assert publish_quota.quotas(depths)[P2_PUSH] == 100
    publish_quota.charge_published(P2_PUSH, 100)
    assert P2_PUSH not in publish_quota.quotas(depths)
    [account] = state.client().keys("relay_pace:*")
    state.client().decrby(account, 2_000_000)  # two seconds later
    assert publish_quota.quotas(depths)[P2_PUSH] == 16  # four fifths of ten a second


@pytest.mark.usefixtures("caller")
def test_the_relay_hands_a_throttling_provider_no_more_than_its_lowered_pace() -> None:
    depths = dict.fromkeys(LANES, 0)
    circuit_breakers.record_calls({PUSH: CallStats(throttled=1, calls=1)})
    # Without a stated pace the base is the least, and throttling halves it.
    assert publish_quota.quotas(depths)[P2_PUSH] == 5
    _slow(20, 10)
    assert publish_quota.quotas(depths)[P2_PUSH] == 10
    publish_quota.charge_published(P2_PUSH, 10)
    [account] = state.client().keys("relay_pace:*")
    state.client().decrby(account, 2_000_000)  # two seconds later
    assert (
        8 <= publish_quota.quotas(depths)[P2_PUSH] < 12
    )  # four fifths of five a second, of ten it were 16


def test_a_vendors_own_pace_is_kept(reach: Reach, take: Accept, add_vendor: AddVendor) -> None:
    add_vendor("slow", pace=Pace(burst=1, per_second=1))
    ProviderRoute.objects.update(provider="slow")
    routing.forget()
    reach(sms="+15551234567")
    rows = [deliveries_of(take(channels=["sms"]))[0] for _ in range(2)]
    deliver.deliver([row.id for row in rows])
    assert sorted(_reasons(rows)) == sorted(_SENT_OR_HELD)


@pytest.fixture
def _spare() -> None:
    """SMS goes by acme, and where that rests, by the sandbox."""
    ProviderRoute.objects.create(channel=Channel.SMS, provider="sandbox", rank=1)
    routing.forget()


@pytest.mark.usefixtures("_spare")
def test_what_one_breaker_turns_away_goes_by_the_next_provider_at_once(
    reach: Reach, take: Accept
) -> None:
    reach(sms="+15551234567")
    rows = [deliveries_of(take(channels=["sms"]))[0] for _ in range(3)]
    _trip(SMS)
    assert deliver.deliver([row.id for row in rows]) == []
    assert {(row.status, row.provider) for row in map(_row, rows)} == {(Status.SENT, "sandbox")}


@pytest.mark.usefixtures("_spare")
def test_the_first_provider_is_still_probed(reach: Reach, take: Accept) -> None:
    reach(sms="+15551234567")
    rows = [deliveries_of(take(channels=["sms"]))[0] for _ in range(3)]
    _trip(SMS)
    age(PROBE_EVERY)
    deliver.deliver([row.id for row in rows])
    assert sorted(row.provider for row in map(_row, rows)) == ["acme", "sandbox", "sandbox"]
    assert not breaker_status.of([SMS])[SMS].is_open


@pytest.mark.usefixtures("_spare")
def test_only_while_all_rest_something_is_held(reach: Reach, take: Accept) -> None:
    lane = Lane(Mode.LIVE, Priority.P2, Channel.SMS)
    reach(sms="+15551234567")
    [row] = deliveries_of(take(channels=["sms"]))
    _trip(SMS)
    assert publish_quota.quotas({lane: 0})[lane] > 1
    _trip(HealthKey("sandbox", Channel.SMS))
    assert lane not in publish_quota.quotas({lane: 0})
    deliver.deliver([row.id])
    assert _reasons([row]) == [(Status.SCHEDULED, "breaker")]


@pytest.mark.usefixtures("_spare")
def test_what_the_resting_provider_may_have_sent_waits_for_it(reach: Reach, take: Accept) -> None:
    reach(sms="+15551234567")
    [row] = deliveries_of(take(channels=["sms"]))
    Delivery.objects.filter(id=row.id).update(attempts=1)
    Attempt.objects.create(
        delivery_id=row.id,
        number=1,
        provider="acme",
        outcome="unanswered",
        started_at=clock.now(),
        latency_ms=1,
    )
    _trip(SMS)
    deliver.deliver([row.id])
    assert _reasons([row]) == [(Status.SCHEDULED, "breaker")]


@pytest.mark.usefixtures("_spare")
def test_failures_that_went_on_to_the_next_provider_count(reach: Reach, take: Accept) -> None:
    reach(sms="+15555031000")  # 503 on the first call
    rows = [deliveries_of(take(channels=["sms"]))[0] for _ in range(5)]
    deliver.deliver([row.id for row in rows])
    assert {(row.status, row.provider) for row in map(_row, rows)} == {(Status.SENT, "sandbox")}
    assert breaker_status.of([SMS])[SMS].why == "5 failures in a row, the last: 503"
