"""Providers in trouble, seen from the deliveries: what waits, what it costs, and what is believed.

Time is simulated: a delivery runs when the simulated second of its `due_at` has come, and what
Redis keeps grows older by a second at a time.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, get_args
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver, provider_health, routing
from notifications.core.intake.accept import Caller
from notifications.core.models import Alert, Attempt, Contact, DeadLetter, Delivery, ProviderRoute
from notifications.core.rules.lane import PACE, Priority
from notifications.core.rules.language.templating import RenderError
from notifications.core.rules.rate_limits.circuit_breaker import (
    ENDPOINT_CALLS,
    REFUSALS_BELIEVED,
    BreakerOverride,
    CallStats,
    HealthKey,
    Probe,
)
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import resume
from providers.contract import Channel, NotStarted, Outcome
from tests.journey import Accept, AddVendor, Reach, deliveries_of
from tests.moments import transaction_now
from tests.store.ageing import age

EMAIL: Final = HealthKey("sandbox", Channel.EMAIL)
PUSH: Final = HealthKey("sandbox", Channel.PUSH)
SECOND: Final = dt.timedelta(seconds=1)
WELL: Final = "maria@sandbox.example"


pytestmark = pytest.mark.usefixtures("outbox")


@pytest.fixture(autouse=True)
def _fresh(caller: Caller) -> Iterator[None]:
    assert caller.producer_id
    circuit_breakers.forget()
    provider_overrides.forget()
    yield
    circuit_breakers.forget()
    provider_overrides.forget()


def _row(delivery_id: UUID) -> Delivery:
    return Delivery.objects.get(id=delivery_id)


def _open_alerts() -> set[str]:
    return set(Alert.objects.filter(resolved_at=None).values_list("kind", flat=True))


@dataclass
class _Seconds:
    """Deliveries on a simulated clock, in whole seconds."""

    now: int = 0
    due: dict[UUID, float] = field(default_factory=dict)

    def add(self, ids: list[UUID]) -> None:
        self.due |= dict.fromkeys(ids, float(self.now))

    def step(self) -> None:
        """Run what is due, a message each; then a second passes."""
        for each in [each for each, at in self.due.items() if at <= self.now]:
            past = clock.now() - dt.timedelta(hours=1)
            Delivery.objects.filter(id=each, due_at__isnull=False).update(due_at=past)
            # Its slot has come: Postgres's clock stands still within the test's transaction.
            Delivery.objects.filter(id=each, slot_at__isnull=False).update(
                slot_at=transaction_now()
            )
            deliver.deliver([each])
            row = _row(each)
            del self.due[each]
            if row.status in OPEN and row.due_at is not None:
                wait = row.due_at - transaction_now()
                self.due[each] = self.now + wait.total_seconds()
        age(SECOND)
        self.now += 1


@pytest.mark.parametrize("priority", ["P0", "P1", "P2"])
def test_five_messages_a_minute_outlive_a_minute_without_their_provider(
    reach: Reach, take: Accept, priority: str
) -> None:
    reach(email="maria+503@sandbox.example")
    seconds = _Seconds()
    taken: list[UUID] = []
    while seconds.now < 60:
        if seconds.now % 12 == 0:
            taken += [row.id for row in deliveries_of(take(priority=priority))]
            seconds.add(taken[-1:])
        seconds.step()
        if seconds.now == 30:
            assert "breaker_open" in _open_alerts()
    calls_while_away = Attempt.objects.count()
    Contact.objects.update(address=WELL)
    while seconds.due and seconds.now < 60 + 90:
        seconds.step()
    assert {Status(_row(each).status) for each in taken} == {Status.SENT}
    assert not DeadLetter.objects.exists()
    assert calls_while_away <= 16  # some until it rests, then 1, 2, 4 ... seconds apart
    assert all(_row(each).attempts - _row(each).attempts_before <= 5 for each in taken)
    assert seconds.now <= 60 + 65  # the next probe, and for P2 the ramp behind it
    assert _open_alerts() == set()


def test_a_probe_spends_no_attempt_however_often_it_fails(reach: Reach, take: Accept) -> None:
    reach(email="maria+503@sandbox.example")
    seconds = _Seconds()
    [row] = deliveries_of(take(priority="P1"))
    seconds.add([row.id])
    while seconds.now < 600:
        seconds.step()
    last = _row(row.id)
    assert last.status in OPEN
    calls = Attempt.objects.filter(delivery_id=row.id).count()
    assert calls > 15
    assert last.attempts - last.attempts_before <= 3
    assert not DeadLetter.objects.exists()


def test_one_poisoned_address_keeps_no_breaker_open(reach: Reach, take: Accept) -> None:
    """One recipient's answer looks like a fault of the account; the next probe is another's."""
    reach("poisoned", email="poisoned+401@sandbox.example")
    reach("ana", email="ana@sandbox.example")
    seconds = _Seconds()
    [bad] = deliveries_of(take(user_id="poisoned", priority="P1"))
    seconds.add([bad.id])
    seconds.step()
    good = [deliveries_of(take(user_id="ana", priority="P1"))[0].id for _ in range(5)]
    seconds.add(good)
    while any(_row(each).status in OPEN for each in good) and seconds.now < 60:
        seconds.step()
    assert {Status(_row(each).status) for each in good} == {Status.SENT}
    assert seconds.now <= 15
    assert _row(bad.id).status in OPEN


def test_a_wave_of_dead_addresses_ends_after_ten_and_kills_no_more(
    reach: Reach, take: Accept
) -> None:
    reach(push=[f"token{number}.410" for number in range(60)])
    rows = [row.id for row in deliveries_of(take(channels=["push"]))]
    deliver.deliver(rows)
    assert Contact.objects.filter(invalidated_at__isnull=False).count() == REFUSALS_BELIEVED
    assert DeadLetter.objects.count() == REFUSALS_BELIEVED
    held = [each for each in map(_row, rows) if each.status in OPEN]
    assert len(held) == 60 - REFUSALS_BELIEVED
    assert {row.reason for row in held} == {Reason.PROVIDER_MISCONFIGURED}
    assert all(row.attempts == row.attempts_before for row in held)
    assert _open_alerts() == {"breaker_open", "refusals_not_believed"}
    assert set(Alert.objects.values_list("subject", flat=True)) == {"sandbox push"}
    seconds = _Seconds()
    seconds.add([row.id for row in held])
    for _ in range(70):
        seconds.step()
    assert Contact.objects.filter(invalidated_at__isnull=False).count() == REFUSALS_BELIEVED
    for contact in Contact.objects.filter(invalidated_at=None):
        contact.address = contact.address.replace(".410", ".ok")  # the right host, at last
        contact.save()
    while seconds.due and seconds.now < 300:
        seconds.step()
    assert {Status(_row(row.id).status) for row in held} == {Status.SENT}


def test_some_dead_addresses_among_good_ones_are_believed(reach: Reach, take: Accept) -> None:
    reach(push=[f"token{number}.{'410' if number % 10 == 0 else 'ok'}" for number in range(100)])
    deliver.deliver([row.id for row in deliveries_of(take(channels=["push"]))])
    assert Contact.objects.filter(invalidated_at__isnull=False).count() == 10
    assert _open_alerts() == set()


def test_an_operator_may_believe_a_wave(reach: Reach, take: Accept) -> None:
    reach(push=[f"token{number}.410" for number in range(40)])
    circuit_breakers.force(PUSH.pair, BreakerOverride.CLOSED, by="tests")
    deliver.deliver([row.id for row in deliveries_of(take(channels=["push"]))])
    assert Contact.objects.filter(invalidated_at__isnull=False).count() == 40


def test_a_storm_of_429_costs_no_attempt_and_slows_the_provider(reach: Reach, take: Accept) -> None:
    reach(email="maria+429@sandbox.example")
    rows = [deliveries_of(take(priority="P1"))[0].id for _ in range(20)]
    seconds = _Seconds()
    seconds.add(rows)
    while seconds.now < 60:
        seconds.step()
    assert all(_row(each).attempts == _row(each).attempts_before for each in rows)
    assert {Status(_row(each).status) for each in rows} <= OPEN
    assert not breaker_status.of([EMAIL])[EMAIL].is_open  # a throttle is no failure
    assert Attempt.objects.count() < 20 * 15  # twenty rows, each told to wait two seconds: 600
    Contact.objects.update(address=WELL)
    while seconds.due and seconds.now < 60 + 90:
        seconds.step()
    assert {Status(_row(each).status) for each in rows} == {Status.SENT}
    assert not DeadLetter.objects.exists()


@pytest.fixture
def _by_endpoint(add_vendor: AddVendor) -> None:
    """Chat by the sandbox, with health for the host that an address begins with."""
    add_vendor(
        "houses",
        channels=frozenset({Channel.CHAT}),
        endpoint_of=lambda address: address.partition("/")[0],
    )
    ProviderRoute.objects.create(channel=Channel.CHAT, provider="houses")
    routing.forget()


def _chat(take: Accept, user_id: str, **fields: object) -> UUID:
    content = {"title": "t", "body": "b"}
    [row] = deliveries_of(
        take(user_id=user_id, channels=["chat"], template_id=None, content=content, **fields)
    )
    return row.id


@pytest.mark.usefixtures("_by_endpoint")
def test_an_endpoint_that_is_away_costs_its_messages_waits_and_others_nothing(
    reach: Reach, take: Accept
) -> None:
    reach("gone", chat="gone/503")
    reach("ana", chat="well/ana")
    seconds = _Seconds()
    waiting: list[UUID] = []
    while seconds.now < 90:
        if seconds.now % 10 == 0:
            waiting.append(_chat(take, "gone", priority="P1"))
            others = _chat(take, "ana", priority="P1")
            seconds.add([waiting[-1], others])
            seconds.step()
            assert _row(others).status == Status.SENT
        else:
            seconds.step()
    assert {Status(_row(each).status) for each in waiting} <= OPEN
    assert not DeadLetter.objects.exists()
    assert Attempt.objects.filter(delivery_id__in=waiting).count() <= 15
    assert breaker_status.endpoints(("houses", Channel.CHAT), limit=5).count == 1
    Contact.objects.filter(address="gone/503").update(address="gone/ok")
    while seconds.due and seconds.now < 90 + 60:
        seconds.step()
    assert {Status(_row(each).status) for each in waiting} == {Status.SENT}


@pytest.mark.usefixtures("_by_endpoint")
def test_an_endpoint_that_refuses_us_is_not_our_account(reach: Reach, take: Accept) -> None:
    reach("odd", chat="odd/401")
    deliver.deliver([_chat(take, "odd")])
    assert _open_alerts() == set()


@pytest.mark.usefixtures("_by_endpoint")
def test_one_endpoint_gets_its_share_of_a_batch(reach: Reach, take: Accept) -> None:
    reach("busy", chat="busy/ok")
    reach("ana", chat="well/ana")
    many = [_chat(take, "busy") for _ in range(ENDPOINT_CALLS + 6)]
    one = _chat(take, "ana")
    deliver.deliver([*many, one])
    assert _row(one).status == Status.SENT
    held = [row for row in map(_row, many) if row.status == Status.SCHEDULED]
    assert [row.reason for row in held] == [Reason.ENDPOINT_BUSY] * 6
    past = clock.now() - dt.timedelta(hours=1)
    Delivery.objects.filter(id__in=many, due_at__isnull=False).update(due_at=past)
    deliver.deliver(many)
    assert {Status(_row(each).status) for each in many} == {Status.SENT}


def _broken(*_arguments: object, **_named: object) -> None:
    raise RenderError("broken")


@pytest.mark.usefixtures("_by_endpoint")
@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ("notifications.core.delivery.render.message", _broken),
        ("notifications.core.store.postgres.claims.renew", lambda ids, **_named: [None] * len(ids)),
    ],
)
def test_a_delivery_without_a_call_occupies_no_endpoint(
    reach: Reach,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    answer: Callable[..., object],
) -> None:
    reach("busy", chat="busy/ok")
    rows = [_chat(take, "busy") for _ in range(ENDPOINT_CALLS)]
    with monkeypatch.context() as patch:
        patch.setattr(function, answer)
        deliver.deliver(rows)
    assert not Attempt.objects.exists()
    one = _chat(take, "busy")
    deliver.deliver([one])
    assert _row(one).status == Status.SENT


def test_what_waits_for_long_is_released_when_the_breaker_closes(
    reach: Reach, take: Accept
) -> None:
    reach(email=WELL)
    rows = [deliveries_of(take(priority="P1"))[0].id for _ in range(3)]
    later = clock.now() + dt.timedelta(minutes=40)
    Delivery.objects.filter(id__in=rows).update(
        status=Status.SCHEDULED, reason=Reason.BREAKER, due_at=later
    )
    Delivery.objects.filter(id=rows[2]).update(reason=Reason.QUIET_HOURS)
    assert resume.run_once(now=clock.now(), limit=10).moved == 0
    state.client().sadd(circuit_breakers.CLOSED, circuit_breakers.key(EMAIL))
    assert resume.run_once(now=clock.now(), limit=10).moved == 2
    assert [_row(each).due_at == later for each in rows] == [False, False, True]
    assert resume.run_once(now=clock.now(), limit=10).moved == 0


def test_a_hold_that_is_stored_after_the_release_ends_with_the_second_release(
    reach: Reach, take: Accept
) -> None:
    reach(email=WELL)
    [row] = deliveries_of(take(priority="P1"))
    state.client().sadd(circuit_breakers.CLOSED, circuit_breakers.key(EMAIL))
    now = clock.now()
    assert resume.run_once(now=now, limit=10).moved == 0
    later = now + dt.timedelta(minutes=40)
    Delivery.objects.filter(id=row.id).update(
        status=Status.SCHEDULED, reason=Reason.BREAKER, due_at=later
    )
    lease = PACE[Priority.P1].lease
    assert resume.run_once(now=now + lease - SECOND, limit=10).moved == 0
    assert resume.run_once(now=now + lease, limit=10).moved == 1
    assert not state.client().exists(circuit_breakers.RELEASED)


@pytest.mark.usefixtures("_by_endpoint")
def test_what_waits_behind_an_endpoint_is_released_when_that_endpoint_answers(
    reach: Reach, take: Accept
) -> None:
    reach("gone", chat="gone/ok")
    reach("ana", chat="other/ok")
    rows = [_chat(take, name, priority="P1") for name in ("gone", "ana", "gone")]
    later = clock.now() + dt.timedelta(minutes=40)
    Delivery.objects.filter(id__in=rows).update(
        status=Status.SCHEDULED, reason=Reason.ENDPOINT, due_at=later
    )
    gone = HealthKey("houses", Channel.CHAT, "gone")
    circuit_breakers.record_calls({gone: CallStats(faults=1, calls=1, fault="401")})
    assert resume.run_once(now=clock.now(), limit=10).moved == 0
    circuit_breakers.record_calls({gone: CallStats(accepted=1, calls=1, probe=Probe.ACCEPTED)})
    assert resume.run_once(now=clock.now(), limit=10).moved == 2
    assert [_row(each).due_at == later for each in rows] == [False, True, False]
    assert not state.client().exists(circuit_breakers.CLOSED)


def test_an_operator_who_closes_a_breaker_releases_what_it_held(reach: Reach, take: Accept) -> None:
    reach(email=WELL)
    [row] = deliveries_of(take(priority="P1"))
    later = clock.now() + dt.timedelta(minutes=40)
    Delivery.objects.filter(id=row.id).update(
        status=Status.SCHEDULED, reason=Reason.BREAKER, due_at=later
    )
    assert resume.run_once(now=clock.now(), limit=10).moved == 0
    circuit_breakers.force(EMAIL.pair, BreakerOverride.CLOSED, by="maria")
    assert resume.run_once(now=clock.now(), limit=10).moved == 1


def test_every_outcome_of_a_call_is_counted() -> None:
    counted = set(provider_health.COUNTED_AS)
    assert counted == set(get_args(Outcome)) - {NotStarted}
