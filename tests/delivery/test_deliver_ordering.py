"""One at a time, in the order of acceptance: against a real provider, whatever becomes of each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.delivery import deliver, routing
from notifications.core.intake.accept import Caller, Refused
from notifications.core.models import Delivery, Event, Notification, OrderedDelivery, OrderingKey
from notifications.core.rules.lane import Mode
from notifications.core.rules.ordering import LETS_GO_AFTER
from notifications.core.rules.problems import Kind
from notifications.core.rules.states import OPEN, Status
from notifications.core.scheduling import cancel, release
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import due_rows
from tests.journey import Accept, Reach, deliveries_of
from tests.moments import transaction_now
from tests.store.ageing import age

Outbox = Callable[[UUID], list[Any]]
LIVES = ("well", "503x1", "429x2", "400", "crash")
"""What becomes of one: taken, taken after retries, refused, or nobody knows."""


def _row(delivery_id: UUID) -> Delivery:
    return Delivery.objects.get(id=delivery_id)


def _told(delivery_id: UUID) -> list[str]:
    return list(
        Event.objects
        .filter(delivery_id=delivery_id)
        .order_by("seq")
        .values_list("reason", flat=True)
    )


def _let_pass(*delivery_ids: UUID) -> None:
    # An hour ago: Postgres's clock stands still within the test's transaction.
    past = clock.now() - dt.timedelta(hours=1)
    Delivery.objects.filter(id__in=delivery_ids, due_at__isnull=False).update(due_at=past)
    age(dt.timedelta(hours=1))


@pytest.fixture
def _forgetful(
    caller: Caller,  # noqa: ARG001 - the database comes first
    outbox: Outbox,  # noqa: ARG001 - and the other settings
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The provider knows no keys, so what it does not answer stays unknown."""
    monkeypatch.setenv("NOTIFY_SANDBOX_DEDUP", "no")
    routing.forget()


@pytest.fixture
def _maria(reach: Reach, outbox: Outbox) -> None:  # noqa: ARG001 - routes to the sandbox
    reach(email="maria@sandbox.example")


@pytest.fixture
def queue(take: Accept, _maria: None) -> Callable[..., list[UUID]]:
    """Accept some with one key."""

    def accepted(count: int, **fields: object) -> list[UUID]:
        asked = {"ordering_key": "order-1", **fields}
        return [deliveries_of(take(**asked))[0].id for _ in range(count)]

    return accepted


Queue = Callable[..., list[UUID]]


def test_the_second_waits_until_the_first_has_left_and_is_then_published_at_once(
    queue: Queue, outbox: Outbox
) -> None:
    first, second = queue(2)
    assert deliver.deliver([second]) == []
    held = _row(second)
    assert (held.status, held.reason, held.attempts) == (Status.SCHEDULED, "ordering", 0)
    [group] = deliver.deliver([first])
    assert (group.delivery_ids, group.countdown) == ([second], dt.timedelta(0))
    assert deliver.deliver(group.delivery_ids) == []
    assert [len(outbox(each)) for each in (first, second)] == [1, 1]
    assert not OrderedDelivery.objects.exists()


def test_of_one_claim_only_the_first_of_a_line_leaves(queue: Queue) -> None:
    line, other = queue(3), queue(2, ordering_key="order-2")
    groups = deliver.deliver([*line, *other])
    assert {_row(each).status for each in (line[0], other[0])} == {Status.SENT}
    assert {_row(each).reason for each in (*line[1:], other[1])} == {"ordering"}
    assert {each for group in groups for each in group.delivery_ids} == {line[1], other[1]}


def test_a_retry_keeps_its_place(reach: Reach, take: Accept, queue: Queue) -> None:
    reach("ana", email="ana+503x1@sandbox.example")
    [row] = deliveries_of(take(user_id="ana", ordering_key="order-1"))
    [second] = queue(1)
    deliver.deliver([row.id, second])
    _let_pass(second)
    deliver.deliver([second])
    assert (_row(row.id).status, _row(second).reason) == (Status.RETRYING, "ordering")
    _let_pass(row.id)
    [group] = deliver.deliver([row.id])
    assert group.delivery_ids == [second]


@pytest.mark.parametrize("end", ["cancelled", "dead"])
def test_who_is_gone_is_not_waited_for(end: str, queue: Queue, caller: Caller) -> None:
    first, second = queue(2)
    deliver.deliver([second])
    if end == "cancelled":
        notification = _row(first).notification_id
        cancel.cancel(notification, producer_id=caller.producer_id, mode=Mode.LIVE)
    else:
        Delivery.objects.filter(id=first).update(status=Status.FAILED, due_at=None)
    _let_pass(second)
    deliver.deliver([second])
    assert _row(second).status == Status.SENT


def test_a_head_that_is_held_for_long_lets_go_and_its_timeline_says_so(queue: Queue) -> None:
    first, second, third = queue(3)
    deliver.deliver([second, third])
    soon, late = clock.now() + dt.timedelta(seconds=20), clock.now() + 2 * LETS_GO_AFTER
    held = Delivery.objects.filter(id=first)
    held.update(status=Status.SCHEDULED, reason="quiet_hours", due_at=soon)
    _let_pass(second)
    deliver.deliver([second])
    assert _row(second).reason == "ordering"
    held.update(due_at=late)
    _let_pass(second)
    [group] = deliver.deliver([second])
    assert _row(second).status == Status.SENT
    assert _told(first)[-1] == "ordering_let_go"
    assert group.delivery_ids == [third]
    held.update(status=Status.QUEUED)
    deliver.deliver([first])
    assert _row(first).status == Status.SENT


def test_many_short_holds_are_a_long_one(queue: Queue) -> None:
    first, second = queue(2)
    deliver.deliver([second])
    in_a_moment = transaction_now() + dt.timedelta(seconds=20)
    Delivery.objects.filter(id=first).update(
        status=Status.SCHEDULED, reason="breaker", due_at=in_a_moment
    )
    OrderedDelivery.objects.filter(delivery_id=first).update(
        held_since=transaction_now() - LETS_GO_AFTER - dt.timedelta(seconds=1)
    )
    _let_pass(second)
    deliver.deliver([second])
    assert (_row(second).status, _told(first)[-1]) == (Status.SENT, "ordering_let_go")


def test_a_key_has_one_priority(queue: Queue, take: Accept) -> None:
    queue(1)
    answer = take(ordering_key="order-1", priority="P1")
    assert isinstance(answer, Refused)
    assert answer.problem.kind is Kind.CONFLICT
    assert answer.problem.errors[0].pointer == "/ordering_key"


@pytest.mark.usefixtures("outbox")
def test_channels_of_one_key_do_not_wait_for_each_other(reach: Reach, take: Accept) -> None:
    reach("ana", email="ana@sandbox.example", sms="+15551234567")
    both = {"ordering_key": "k", "user_id": "ana", "channels": ["email", "sms"], "delivery": "all"}
    first, second = (deliveries_of(take(**both)) for _ in range(2))
    deliver.deliver([each.id for each in (*first, *second)])
    assert {_row(each.id).status for each in first} == {Status.SENT}
    assert {_row(each.id).reason for each in second} == {"ordering"}


def test_a_schedule_takes_its_place_when_it_is_released(queue: Queue, take: Accept) -> None:
    later = (clock.now() + dt.timedelta(hours=1)).isoformat()
    [scheduled] = deliveries_of(take(ordering_key="order-1", scheduled_at=later))
    first, second = queue(2)
    deliver.deliver([first])
    assert _row(first).status == Status.SENT  # it waits for nobody's schedule
    _let_pass(scheduled.id)
    release.resolve([dict(Delivery.objects.filter(id=scheduled.id).values().get())])
    deliver.deliver([scheduled.id])
    assert _row(scheduled.id).reason == "ordering"
    [group] = deliver.deliver([second])
    assert group.delivery_ids == [scheduled.id]


def test_without_a_key_nobody_asks_about_lines(queue: Queue) -> None:
    [free] = queue(1, ordering_key=None)
    with CaptureQueriesContext(connection) as asked:
        deliver.deliver([free])
    assert not [each for each in asked if "ordered_delivery" in each["sql"]]
    assert not OrderingKey.objects.exists()


def _later() -> None:
    """The sweep's time has come."""
    OrderingKey.objects.filter(look_at__isnull=False).update(
        look_at=clock.now() - dt.timedelta(hours=1)
    )


def _sweep() -> int:
    return due_rows.advance_ordering(now=clock.now(), limit=100).moved


def test_only_the_head_is_due_and_the_others_wait_until_their_time_to_live_ends(
    queue: Queue,
) -> None:
    first, *others = queue(60)
    deliver.deliver(others)
    expires_at = dict(Notification.objects.values_list("id", "expires_at"))
    for row in Delivery.objects.filter(id__in=others):
        assert row.due_at is not None
        assert abs(row.due_at - expires_at[row.notification_id]) < dt.timedelta(minutes=1)
    _later()
    assert _sweep() == 0  # the head is queued, so nobody is to be woken
    [group] = deliver.deliver([first])
    assert group.delivery_ids == others[:1]


def test_a_wake_up_that_was_lost_is_made_up_for_by_the_sweep(queue: Queue) -> None:
    first, second, third = queue(3)
    deliver.deliver([second, third])
    Delivery.objects.filter(id=first).update(status=Status.SENT, due_at=None)  # and nobody said so
    assert _sweep() == 0  # not yet
    _later()
    assert _sweep() == 1
    woken, waiting = _row(second).due_at, _row(third).due_at
    assert woken is not None
    assert waiting is not None
    assert woken <= clock.now() < waiting
    OrderedDelivery.objects.all().delete()
    _later()
    _sweep()
    assert list(OrderingKey.objects.values_list("look_at", flat=True)) == [None]


def test_any_number_that_ended_before_the_head_is_passed_over_at_once(queue: Queue) -> None:
    *ended, head, last = queue(130)
    deliver.deliver([head, last])
    Delivery.objects.filter(id__in=ended).update(status=Status.CANCELLED, due_at=None)
    _later()
    assert _sweep() == 1
    assert OrderedDelivery.objects.count() == 2
    deliver.deliver([head])
    assert _row(head).status == Status.SENT


def test_keys_out_of_use_are_forgotten(queue: Queue) -> None:
    first, second = queue(2)
    Delivery.objects.filter(id=first).update(status=Status.CANCELLED, due_at=None)
    OrderingKey.objects.update(used_at=clock.now() - dt.timedelta(days=2))
    _later()
    _sweep()
    assert OrderingKey.objects.count() == 1  # the second still has its place
    Delivery.objects.filter(id=second).update(status=Status.CANCELLED, due_at=None)
    _later()
    _sweep()
    assert not OrderingKey.objects.exists()


@pytest.mark.usefixtures("_forgetful")
@settings(
    max_examples=15,
    phases=(Phase.generate,),  # a shrunk example sends no fewer words than the first
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_happens_the_sink_gets_them_in_the_order_of_acceptance(
    data: st.DataObject, reach: Reach, take: Accept, outbox: Outbox
) -> None:
    state.client().flushdb()  # no breaker of an earlier example rests
    circuit_breakers.forget()
    run = uuid4().hex[:12]
    line = []
    for number in range(data.draw(st.integers(2, 5))):
        who, life = f"{run}-{number}", data.draw(st.sampled_from(LIVES))
        reach(who, email=f"{who}+{life}@sandbox.example")
        [row] = deliveries_of(take(user_id=who, ordering_key=run))
        line.append(row.id)
    for some in data.draw(st.lists(st.sets(st.sampled_from(line), min_size=1), max_size=8)):
        _let_pass(*some)
        for group in deliver.deliver(sorted(some)):
            if data.draw(st.booleans()):  # the other half of the words are lost
                deliver.deliver(group.delivery_ids)
    for _ in range(4 * len(line)):
        _let_pass(*line)
        deliver.deliver(line)
    stood = [(Status(_row(each).status), _row(each).reason) for each in line]
    assert not [each for each in stood if each[0] in OPEN], stood
    taken = [each for each in line if _row(each).status == Status.SENT]
    at = [outbox(each)[0]["last_at"] for each in taken]
    assert at == sorted(at)
    for each in line:
        assert ("ordering_let_go" in _told(each)) == (_row(each).status == Status.UNKNOWN)
