"""Each step runs once, in the order of the definition, whoever runs the sweep how often."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections

from notifications.core import clock
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Delivery,
    Notification,
    NotificationType,
    Preference,
    Producer,
    Recipient,
)
from notifications.core.rules import ids
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.features.series import enrolments, steps, sweep, versions
from notifications.features.series import rows as store
from notifications.features.series.models import (
    Series,
    SeriesEnrolment,
    SeriesStepResult,
    SeriesVersion,
)
from notifications.features.series.rules.states import SeriesState
from tests.features.series.conftest import MakeSeries, enrol, post, send, sweep_once
from tests.journey import Reach

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)


def _history(user_id: str = "maria") -> list[tuple[str, str]]:
    rows = SeriesStepResult.objects.filter(enrolment__user_id=user_id).order_by(
        "enrolment_id", "number"
    )
    return list(rows.values_list("position", "outcome"))


def _enrolment(user_id: str = "maria") -> SeriesEnrolment:
    return SeriesEnrolment.objects.get(user_id=user_id)


def _sent() -> list[str]:
    return [each.metadata["series_step"] for each in Notification.objects.order_by("id")]


@pytest.fixture
def maria(reach: Reach) -> Recipient:
    return reach(email="maria@sandbox.example")


@pytest.mark.usefixtures("maria")
def test_a_wait_is_not_shorter_after_a_stop_of_the_sweep(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = make(send("welcome"), {"step": "wait", "hours": 1}, send("tips"))
    enrol(series, "maria")
    read, now = store.due, clock.now

    def read_and_stop(at: dt.datetime) -> list[store.DueSeries]:
        found = read(at)
        monkeypatch.setattr(clock, "now", lambda: now() + 2 * HOUR)
        return found

    monkeypatch.setattr(store, "due", read_and_stop)
    sweep_once()
    monkeypatch.setattr(store, "due", read)
    assert _sent() == ["welcome"]
    assert sweep_once().moved == 0
    assert sweep_once(later=2 * HOUR).moved == 1
    assert _sent() == ["welcome", "tips"]


@pytest.mark.usefixtures("maria")
def test_the_steps_run_in_order_and_each_message_is_sent_once(make: MakeSeries) -> None:
    series = make(send("welcome"), {"step": "wait", "days": 2}, send("tips"))
    [made] = enrol(series, "maria")
    assert made.result == "enrolled"
    assert sweep_once().moved == 1
    assert sweep_once(later=DAY).moved == 0
    assert _sent() == ["welcome"]
    [first] = Notification.objects.all()
    assert first.metadata == {"series": "onboarding", "series_step": "welcome"}
    assert first.variables == {"name": "Ana"}
    sweep_once(later=2 * DAY + HOUR)
    sweep_once(later=2 * DAY + HOUR)
    assert _sent() == ["welcome", "tips"]
    assert _history() == [("/steps/0", "sent"), ("/steps/1", "waited"), ("/steps/2", "sent")]
    assert (_enrolment().state, _enrolment().due_at) == ("finished", None)
    assert {each.notification_id for each in SeriesStepResult.objects.all()} >= {first.id}


@pytest.mark.usefixtures("maria")
def test_two_messages_without_a_wait_leave_in_two_batches(make: MakeSeries) -> None:
    enrol(make(send("one"), send("two")), "maria")
    sweep_once()
    sweep_once()
    assert _sent() == ["one", "two"]
    assert _enrolment().state == "finished"


@pytest.mark.usefixtures("maria")
def test_a_failure_before_the_commit_leaves_neither_message_nor_step(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    enrol(make(send("one")), "maria")

    def fail(*_args: object, **_named: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(store, "store", fail)
        assert sweep_once().failed == 1
    assert Notification.objects.count() == 0
    assert _enrolment().problem == "ZeroDivisionError"
    assert sweep_once().moved == 0, "the next try is later"
    sweep_once(later=HOUR)
    assert _sent() == ["one"]
    assert _enrolment().problem == ""


def test_an_enrolment_with_an_exception_stops_no_other(
    make: MakeSeries, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        reach(f"user{number}", email=f"u{number}@sandbox.example")
    enrol(make(send("one")), *(f"user{number}" for number in range(5)))
    original = steps._request_of

    def fail(series: Series, track: Any) -> Any:  # noqa: ANN401 - a private type
        if track.row.user_id == "user3":
            raise ZeroDivisionError
        return original(series, track)

    monkeypatch.setattr(steps, "_request_of", fail)
    assert sweep_once().failed == 1
    assert Notification.objects.count() == 4
    assert _enrolment("user3").state == "running"


@pytest.mark.usefixtures("maria")
def test_a_repeat_beyond_the_position_finds_the_first_message(make: MakeSeries) -> None:
    enrol(make(send("one"), {"step": "wait", "days": 1}), "maria")
    sweep_once()
    SeriesEnrolment.objects.update(position="/steps/0", due_at=_enrolment().arrived_at)
    sweep_once()
    assert _sent() == ["one"], "the idempotency key names the enrolment and the step"


@pytest.mark.django_db(transaction=True)
def test_sweeps_side_by_side_send_each_message_once(make: MakeSeries, reach: Reach) -> None:
    names = [f"user{number}" for number in range(40)]
    for name in names:
        reach(name, email=f"{name}@sandbox.example")
    series = make(send("one"), send("two"), send("three"))
    enrol(series, *names)

    def sweep(_: int) -> None:
        try:
            for _ in range(6):
                sweep_once(limit=7)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(sweep, range(3)))
    sweep_once()
    assert Notification.objects.count() == 120
    assert SeriesStepResult.objects.count() == 120
    assert set(SeriesEnrolment.objects.values_list("state", flat=True)) == {"finished"}


@pytest.mark.usefixtures("maria")
def test_a_condition_asks_what_became_of_a_message(make: MakeSeries) -> None:
    asked = {"message": "one", "status": "read"}
    series = make(
        send("one"),
        {"step": "wait", "hours": 1},
        {"step": "condition", "if": asked, "then": [send("read")], "else": [send("unread")]},
    )
    enrol(series, "maria")
    sweep_once()
    Delivery.objects.update(status=Status.READ, due_at=None)
    sweep_once(later=2 * HOUR)
    sweep_once(later=2 * HOUR)
    assert _sent() == ["one", "read"]
    assert _history()[2] == ("/steps/2", "then")


@pytest.mark.usefixtures("maria")
def test_a_condition_asks_for_a_click(make: MakeSeries) -> None:
    asked = {"message": "one", "status": "clicked"}
    series = make(
        send("one"),
        {"step": "wait", "hours": 1},
        {"step": "condition", "if": asked, "then": [send("yes")], "else": [send("no")]},
        reentry="after_exit",
    )
    enrol(series, "maria")
    sweep_once()
    [delivery] = Delivery.objects.all()
    Delivery.objects.update(status=Status.READ, due_at=None)
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)"
            " VALUES (%s, %s, %s, 'client_clicked', '', now())",
            [ids.notification_of(delivery.id), delivery.id, Status.READ],
        )
    for _ in range(2):
        sweep_once(later=2 * HOUR)
    assert _sent() == ["one", "yes"]


@pytest.mark.parametrize(("rule", "state"), [("continue", "finished"), ("exit", "exited")])
def test_a_rejected_message_is_visible_and_the_step_says_what_follows(
    make: MakeSeries, maria: Recipient, rule: str, state: str
) -> None:
    del maria
    series = make(send("one", on_rejected=rule))
    enrol(series, "maria")
    NotificationType.objects.all().delete()
    notification_types.forget()
    sweep_once()
    line = SeriesStepResult.objects.order_by("number")[0]
    assert line.outcome == "rejected"
    assert "unknown type LIKE" in line.detail
    assert _enrolment().state == state
    assert _enrolment().exit_reason == ("rejected" if rule == "exit" else "")


@pytest.mark.usefixtures("maria")
def test_a_recipient_without_a_contact_gets_a_suppressed_message(
    make: MakeSeries, reach: Reach
) -> None:
    reach("nobody")
    enrol(make(send("one")), "nobody")
    sweep_once()
    assert _history("nobody") == [("/steps/0", "sent")]
    assert Notification.objects.count() == 1


@pytest.mark.parametrize("off", ["social", "LIKE"])
def test_an_unsubscribe_ends_the_enrolment(make: MakeSeries, maria: Recipient, off: str) -> None:
    enrol(make(send("one"), {"step": "wait", "days": 1}, send("two")), "maria")
    sweep_once()
    Preference.objects.create(recipient=maria, categories_off=[off])
    sweep_once(later=DAY + HOUR)
    assert _sent() == ["one"]
    assert (_enrolment().state, _enrolment().exit_reason) == ("exited", "unsubscribed")


def test_an_erased_recipient_leaves_no_enrolment(make: MakeSeries, maria: Recipient) -> None:
    enrol(make(send("one"), {"step": "wait", "days": 1}, send("two")), "maria")
    sweep_once()
    post("paid")
    maria.delete()
    assert sweep_once(later=DAY + HOUR).failed == 0
    assert SeriesEnrolment.objects.count() == SeriesStepResult.objects.count() == 0


@pytest.mark.usefixtures("maria")
def test_a_paused_series_holds_and_a_resumed_series_goes_on(make: MakeSeries) -> None:
    series = make(send("one"))
    versions.change_state(series, SeriesState.PAUSED, by="tests")
    series.refresh_from_db()
    enrol(series, "maria")
    assert sweep_once().moved == 0
    versions.change_state(series, SeriesState.ACTIVE, by="tests")
    sweep_once()
    assert _sent() == ["one"]


@pytest.mark.usefixtures("maria")
def test_an_archived_series_ends_its_enrolments(make: MakeSeries) -> None:
    series = make({"step": "wait", "days": 1}, send("one"))
    enrol(series, "maria")
    sweep_once()
    versions.change_state(series, SeriesState.ARCHIVED, by="tests")
    sweep_once()
    assert _enrolment().exit_reason == "archived"
    sweep_once(later=2 * DAY)
    assert _sent() == []


@pytest.mark.usefixtures("maria")
def test_the_series_of_an_inactive_producer_waits(make: MakeSeries) -> None:
    enrol(make(send("one")), "maria")
    Producer.objects.update(is_active=False)
    assert sweep_once().moved == 0


def test_an_enrolment_stays_on_its_version(make: MakeSeries, reach: Reach, caller: Caller) -> None:
    for name in ("old", "new"):
        reach(name, email=f"{name}@sandbox.example")
    series = make(send("one"), {"step": "wait", "days": 1}, send("two"))
    enrol(series, "old")
    sweep_once()
    versions.save_draft(series, {"steps": [send("other")]})
    published = versions.publish(caller, series, by="tests")
    assert isinstance(published, Series)
    enrol(published, "new")
    sweep_once()
    sweep_once(later=DAY + HOUR)
    assert _sent() == ["one", "other", "two"]
    with pytest.raises(Exception, match="is published"):
        SeriesVersion.objects.filter(number=1).update(definition={})


@pytest.mark.usefixtures("maria")
def test_a_wait_follows_the_timezone_of_the_recipient(make: MakeSeries) -> None:
    Recipient.objects.update(timezone="Asia/Tokyo")
    enrol(make({"step": "wait", "until_local": "09:00"}, send("one")), "maria")
    noon = dt.datetime(2026, 6, 10, 12, tzinfo=dt.UTC)
    SeriesEnrolment.objects.update(arrived_at=noon, due_at=noon)
    sweep.run_once(now=noon, limit=50)
    midnight = noon + dt.timedelta(hours=12)
    assert _enrolment().due_at == midnight
    Recipient.objects.update(timezone="UTC")
    sweep.run_once(now=midnight, limit=50)
    assert _enrolment().due_at == midnight + dt.timedelta(hours=9)
    assert _sent() == []


@pytest.mark.usefixtures("maria")
def test_an_enrolment_is_ended_by_request_once(make: MakeSeries) -> None:
    [made] = enrol(make({"step": "wait", "days": 1}, send("one")), "maria")
    assert made.enrolment_id is not None
    sweep_once()
    assert enrolments.leave(made.enrolment_id, by="tests")
    assert not enrolments.leave(made.enrolment_id, by="tests")
    sweep_once(later=2 * DAY)
    assert _sent() == []
    assert _history() == [("/steps/0", "exited")]


@pytest.mark.usefixtures("maria")
def test_a_refusal_for_the_moment_is_tried_again(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    from notifications.core.intake.accept import Refused  # noqa: PLC0415 - one use
    from notifications.core.rules.problems import Kind, Problem  # noqa: PLC0415 - one use

    enrol(make(send("one")), "maria")
    busy = Refused(Problem(Kind.RATE_LIMITED, "the lane is too far behind", retry_after=HOUR))
    with monkeypatch.context() as behind:
        behind.setattr(accept, "accept", lambda *_: [busy])
        sweep_once()
    row = _enrolment()
    assert (row.position, row.problem) == ("/steps/0", "the lane is too far behind")
    assert sweep_once().moved == 0
    sweep_once(later=2 * HOUR)
    assert _sent() == ["one"]


def test_re_entry_follows_the_rule(make: MakeSeries, maria: Recipient) -> None:
    del maria
    once = make(send("one"), name="once")
    again = make(send("one"), {"step": "wait", "days": 1}, name="again", reentry="after_exit")
    for series, later in ((once, "unchanged"), (again, "enrolled")):
        assert [each.result for each in enrol(series, "maria", "maria", "x")] == [
            "enrolled",
            "unchanged",
            "rejected",
        ]
        sweep_once()
        if series is again:
            assert enrol(series, "maria")[0].result == "unchanged"
        sweep_once(later=2 * DAY)
        assert enrol(series, "maria")[0].result == later


def test_history_names_the_notification(make: MakeSeries, maria: Recipient) -> None:
    del maria
    enrol(make(send("one")), "maria")
    sweep_once()
    [line] = SeriesStepResult.objects.all()
    assert isinstance(line.notification_id, UUID)
    assert line.notification_id == Notification.objects.get().id
