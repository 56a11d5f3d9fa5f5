"""An event ends a wait, reaches the goal or enrols, whenever the event arrives."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from django.db import ProgrammingError, connection, connections

from notifications.core import clock
from notifications.core.intake import accept
from notifications.core.models import Notification, Producer, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Problem
from notifications.features.series import event_rows, events
from notifications.features.series.models import CustomEvent, SeriesEnrolment
from notifications.features.series.rules import custom_events as rule
from notifications.features.series.rules.custom_events import CustomEventRequest
from notifyproj.devstack.demo.environment import until
from tests.features.series.conftest import MakeSeries, enrol, post, send, sweep_once
from tests.journey import Reach

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
UNTIL_PAID = {"step": "wait", "days": 1, "until_event": {"event": "paid"}}
PAID = {"event": "paid"}


@pytest.fixture
def maria(reach: Reach) -> Recipient:
    return reach(email="maria@sandbox.example")


def _sent() -> list[str]:
    return [each.metadata["series_step"] for each in Notification.objects.order_by("id")]


def _enrolment() -> SeriesEnrolment:
    return SeriesEnrolment.objects.get()


def _branches() -> dict[str, object]:
    return {"step": "condition", "if": PAID, "then": [send("thanks")], "else": [send("reminder")]}


@pytest.mark.usefixtures("maria")
def test_an_event_before_the_wait_ends_the_wait_at_once(make: MakeSeries) -> None:
    enrol(make(send("one"), UNTIL_PAID, _branches()), "maria")
    post("paid", amount=5)
    sweep_once()
    sweep_once()
    assert _sent() == ["one", "thanks"]
    assert Notification.objects.order_by("-id")[0].variables == {"name": "Ana", "amount": 5}


@pytest.mark.usefixtures("maria")
def test_an_event_during_the_wait_wakes_the_enrolment(make: MakeSeries) -> None:
    enrol(make(UNTIL_PAID, _branches()), "maria")
    sweep_once()
    post("other")
    sweep_once()
    assert _sent() == []
    post("paid")
    sweep_once(later=HOUR)
    assert _sent() == ["thanks"]


@pytest.mark.usefixtures("maria")
def test_an_event_after_the_wait_is_too_late(make: MakeSeries) -> None:
    enrol(make(UNTIL_PAID, _branches()), "maria")
    sweep_once()
    sweep_once(later=DAY + HOUR)
    post("paid")
    sweep_once(later=DAY + HOUR)
    assert _sent() == ["reminder"]


@pytest.mark.usefixtures("maria")
def test_an_event_before_the_enrolment_does_not_count(make: MakeSeries) -> None:
    post("paid")
    CustomEvent.objects.update(received_at=clock.now() - HOUR)
    enrol(make(UNTIL_PAID, _branches()), "maria")
    sweep_once()
    assert _enrolment().position == "/steps/0"


@pytest.mark.usefixtures("maria")
def test_the_properties_must_be_equal(make: MakeSeries) -> None:
    where = {"plan": "pro", "seats": 5, "trial": False}
    wait = {"step": "wait", "days": 1, "until_event": {"event": "paid", "where": where}}
    enrol(make(wait, send("one")), "maria")
    post("paid", plan="pro", seats=4, trial=False)
    post("paid", plan="pro", seats=5)
    post("paid", plan="pro", seats=5, trial=0)
    sweep_once()
    sweep_once()
    assert _sent() == []
    post("paid", plan="pro", seats=5, trial=False, more=1)
    sweep_once(later=HOUR)
    assert _sent() == ["one"]


@pytest.mark.usefixtures("maria")
def test_the_goal_ends_the_enrolment_before_the_next_message(make: MakeSeries) -> None:
    series = make(send("one"), {"step": "wait", "days": 1}, send("two"), goal=PAID)
    enrol(series, "maria")
    sweep_once()
    post("paid")
    sweep_once(later=HOUR)
    assert (_enrolment().state, _enrolment().exit_reason) == ("exited", "goal")
    sweep_once(later=2 * DAY)
    assert _sent() == ["one"]


@pytest.mark.usefixtures("maria")
def test_an_event_enrols_with_its_properties_once(make: MakeSeries) -> None:
    make(send("one"), trigger={"event": "signed_up", "where": {"plan": "pro"}}, goal=PAID)
    post("signed_up", plan="free")
    sweep_once()
    assert SeriesEnrolment.objects.count() == 0
    post("signed_up", plan="pro", name="Ana")
    post("signed_up", plan="pro", name="Eva")
    sweep_once()
    sweep_once()
    assert _sent() == ["one"]
    assert Notification.objects.get().variables == {"plan": "pro", "name": "Ana"}
    assert _enrolment().enrolled_by == "an event"


@pytest.mark.usefixtures("maria")
def test_the_goal_in_the_same_batch_as_the_trigger_counts(make: MakeSeries) -> None:
    make(send("one"), trigger={"event": "cart"}, goal=PAID)
    post("cart")
    post("paid")
    sweep_once()
    assert _sent() == []
    assert _enrolment().exit_reason == "goal"


@pytest.mark.usefixtures("maria")
def test_the_trigger_is_no_goal(make: MakeSeries) -> None:
    make({"step": "wait", "days": 1}, trigger={"event": "cart"}, goal={"event": "cart"})
    post("cart")
    sweep_once()
    assert _enrolment().state == "running"
    post("cart")
    sweep_once(later=HOUR)
    assert _enrolment().exit_reason == "goal"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_goal", [True, False])
def test_an_event_that_arrives_while_a_message_is_sent_counts_after_it(
    make: MakeSeries,
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
    is_goal: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    reach(email="maria@sandbox.example")
    if is_goal:
        enrol(make(send("one"), {"step": "wait", "days": 1}, send("two"), goal=PAID), "maria")
    else:
        enrol(make(send("one"), UNTIL_PAID, {"step": "exit"}), "maria")
    in_step, goes_on = Event(), Event()
    original = accept.accept

    def slow(*args: object, **named: object) -> object:
        in_step.set()
        assert goes_on.wait(30)
        return original(*args, **named)  # type: ignore[arg-type]  # any arguments

    monkeypatch.setattr(accept, "accept", slow)

    def sweep() -> None:
        try:
            sweep_once()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        sending = pool.submit(sweep)
        assert in_step.wait(30)
        post("paid")
        handling = pool.submit(sweep)  # waits for the lock of the enrolment
        _wait_for_a_lock()
        goes_on.set()
        sending.result(60)
        handling.result(60)
    sweep_once(later=HOUR)
    assert _sent() == ["one"]
    assert _enrolment().exit_reason == ("goal" if is_goal else "step")


def _wait_for_a_lock() -> None:
    """Wait until a session waits for the lock of a row."""

    def waits() -> bool:
        with connection.cursor() as running:
            running.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
            return bool(running.fetchone() != (0,))

    until(waits, what="a session waits for the lock")


@pytest.mark.usefixtures("maria")
def test_posted_events_are_told_one_by_one() -> None:
    producer = Producer.objects.get()
    wanted: list[CustomEventRequest | Problem] = []
    for user, key in (("maria", "a"), ("maria", "a"), ("x", None), ("maria", None)):
        wanted.append(CustomEventRequest(name="paid", user_id=user, idempotency_key=key))
    wanted.insert(1, rule.parse({"name": 3}, now=clock.now()))
    words = ["accepted", "rejected", "duplicate", "rejected", "accepted"]
    assert [each.result for each in events.post(producer.pk, Mode.LIVE, wanted)] == words
    words[0] = "duplicate"
    assert [each.result for each in events.post(producer.pk, Mode.LIVE, wanted)] == words
    assert CustomEvent.objects.count() == 3


@pytest.mark.usefixtures("maria")
def test_the_events_of_another_producer_do_not_count(make: MakeSeries) -> None:
    enrol(
        make(UNTIL_PAID, _branches(), trigger={"event": "cart"}, goal={"event": "bought"}), "maria"
    )
    other = Producer.objects.create(name="other")
    for name in ("paid", "cart", "bought"):
        event = CustomEventRequest(name=name, user_id="maria")
        assert events.post(other.pk, Mode.LIVE, [event])[0].result == "accepted"
    sweep_once()
    sweep_once(later=HOUR)
    assert (_enrolment().state, _enrolment().position) == ("running", "/steps/0")


@pytest.mark.parametrize(
    ("shift", "is_taken"),
    [(-8 * DAY, False), (-6 * DAY, True), (dt.timedelta(minutes=4), True), (HOUR, False)],
)
def test_occurred_at_has_limits(shift: dt.timedelta, is_taken: bool) -> None:  # noqa: FBT001 - a parameter of the test
    now = clock.now()
    body = {"name": "paid", "user_id": "maria", "occurred_at": (now + shift).isoformat()}
    found = rule.parse(body, now=now)
    assert isinstance(found, CustomEventRequest) is is_taken


def test_properties_are_limited() -> None:
    body = {"name": "paid", "user_id": "maria", "properties": {"a": "x" * 5000}}
    found = rule.parse(body, now=clock.now())
    assert isinstance(found, Problem)
    assert found.errors[0].pointer == "/properties"


@pytest.mark.django_db(transaction=True)
def test_the_same_events_posted_by_two_connections_at_once_count_once(
    make: MakeSeries, reach: Reach
) -> None:
    names = [f"user{number}" for number in range(60)]
    for name in names:
        reach(name, email=f"{name}@sandbox.example")
    make(send("one"), trigger={"event": "signed_up"}, reentry="after_exit")
    producer = Producer.objects.get()
    both_ready = Barrier(2)

    def post_all(order: int) -> list[str]:
        try:
            both_ready.wait(10)
            found = [
                events.post(producer.pk, Mode.LIVE, [_signed_up(name), _signed_up(name)])
                for name in names[::order]
            ]
            return [each.result.value for results in found for each in results]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        told = Counter(result for results in pool.map(post_all, (1, -1)) for result in results)
    assert told == {"accepted": 60, "duplicate": 180}
    for _ in range(3):
        sweep_once()
    assert CustomEvent.objects.count() == 60
    assert SeriesEnrolment.objects.count() == 60
    assert Notification.objects.count() == 60


def _signed_up(user_id: str) -> CustomEventRequest:
    return CustomEventRequest(
        name="signed_up",
        user_id=user_id,
        properties={"name": "Ana"},
        idempotency_key=f"key-{user_id}",
    )


@pytest.mark.usefixtures("maria")
def test_an_event_that_raises_waits_for_another_try_and_the_others_go_on(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(send("one"), trigger={"event": "broken"})
    make(send("two"), trigger={"event": "well"}, name="other")
    wake = event_rows.wake

    def fail(rows: list[event_rows.UnhandledEvent]) -> int:
        if any(each.name == "broken" for each in rows):
            raise ZeroDivisionError
        return wake(rows)

    with monkeypatch.context() as patched:
        patched.setattr(event_rows, "wake", fail)
        for name in ("broken", "broken", "well"):
            post(name, name="Ana")
        assert sweep_once(limit=2).failed == 2
        assert _sent() == ["two"], "two events that raise fill a batch"
        assert sweep_once().failed == 0, "the next try is later"
    waiting = CustomEvent.objects.filter(name="broken", handled=False)
    assert waiting.update(due_at=clock.now() - HOUR) == 2
    assert sweep_once().failed == 0
    assert sorted(_sent()) == ["one", "two"]
    assert not CustomEvent.objects.filter(handled=False).exists()


@pytest.mark.usefixtures("maria")
def test_an_event_that_raises_for_a_day_is_given_up(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_rows: object) -> int:
        raise ZeroDivisionError

    make(send("one"))
    post("broken")
    CustomEvent.objects.update(received_at=clock.now() - events.GIVE_UP_AFTER)
    monkeypatch.setattr(event_rows, "wake", fail)
    assert sweep_once().failed == 1
    assert not CustomEvent.objects.filter(handled=False).exists()


@pytest.mark.usefixtures("maria")
def test_an_error_of_the_schema_ends_no_event(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_rows: object) -> int:
        raise ProgrammingError("column does not exist")

    make(send("one"))
    post("well")
    monkeypatch.setattr(event_rows, "wake", fail)
    with pytest.raises(ProgrammingError):
        sweep_once()
    assert CustomEvent.objects.get().handled is False


@pytest.mark.usefixtures("maria")
def test_a_series_whose_messages_lead_to_its_own_trigger_runs_once_for_each_end(
    make: MakeSeries,
) -> None:
    make(send("one"), send("two"), trigger={"event": "got_mail"}, reentry="after_exit")
    post("got_mail", name="Ana")
    for _ in range(8):
        sweep_once()
        post("got_mail", name="Ana")  # as a producer does that posts the event for each message
        post("got_mail", name="Ana")
        assert SeriesEnrolment.objects.filter(ended_at=None).count() <= 1
    rounds = SeriesEnrolment.objects.count()
    assert 2 <= rounds <= 5, "17 events"
    assert _sent() == (["one", "two"] * rounds)[: len(_sent())]
    assert len(_sent()) >= 2 * (rounds - 1)
