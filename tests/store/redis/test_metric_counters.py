"""What `/metrics` tells of holds, drops, releases and opt-outs, as they happen."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from notifications.core import clock, conf
from notifications.core.delivery import deliver
from notifications.core.delivery.unsubscribe_links import Link
from notifications.core.feedback import inbound_sms, unsubscribe
from notifications.core.feedback.unsubscribe import Choice
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller
from notifications.core.models import Delivery, Preference
from notifications.core.rules import request
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import Problem
from notifications.core.store.redis import state
from notifications.core.sweeps import release
from providers.contract import Channel, InboundText
from tests.journey import Accept, Reach, deliveries_of

HOUR = dt.timedelta(hours=1)
Committed = DjangoCaptureOnCommitCallbacks

pytestmark = pytest.mark.usefixtures("outbox")


def told(family: str) -> list[str]:
    """The lines of one family."""
    lines = Client().get("/metrics").content.decode().splitlines()
    return sorted(line for line in lines if line.startswith(f"notifications_{family}_total{{"))


def moved(reason: str, status: str, count: int) -> str:
    return f'notifications_moved_total{{reason="{reason}",status="{status}"}} {count}.0'


def test_a_hold_its_release_and_a_drop_are_counted_by_reason(
    reach: Reach, take: Accept, django_capture_on_commit_callbacks: Committed
) -> None:
    wish = Preference.objects.create(
        recipient=reach(email="maria@sandbox.example"), do_not_disturb_until=clock.now() + HOUR
    )
    with django_capture_on_commit_callbacks(execute=True):
        rows = [deliveries_of(take())[0].id for _ in range(2)]
        deliver.deliver(rows)
        Delivery.objects.update(due_at=clock.now() - HOUR)
        release.run_once(now=clock.now(), limit=10)
        wish.do_not_disturb_until, wish.categories_off = None, ["social"]
        wish.save()
        deliver.deliver(rows[:1])
        take()
    assert told("moved") == [
        moved("do_not_disturb", "scheduled", 2),
        moved("hold_over", "queued", 2),
        moved("opted_out", "suppressed", 2),
    ]


def test_what_a_test_key_sends_is_no_figure(
    reach: Reach, caller: Caller, django_capture_on_commit_callbacks: Committed
) -> None:
    person = reach(email="maria@sandbox.example")
    person.mode = Mode.TEST
    person.save()
    wish = Preference.objects.create(recipient=person, do_not_disturb_until=clock.now() + HOUR)
    body = {"user_id": "maria", "type": "LIKE", "channels": ["email"], "content": {"body": "x"}}
    wanted = request.parse(body)
    assert not isinstance(wanted, Problem)
    with django_capture_on_commit_callbacks(execute=True):
        [answer] = accept.accept(replace(caller, mode=Mode.TEST), [wanted])
        [row] = deliveries_of(answer)
        deliver.deliver([row.id])
        wish.categories_off = ["social"]
        wish.save()
        accept.accept(replace(caller, mode=Mode.TEST), [wanted])
    reasons = Delivery.objects.order_by("id").values_list("reason", flat=True)
    assert list(reasons) == ["do_not_disturb", "opted_out"]
    assert not told("moved")


def test_who_unsubscribes_and_who_answers_stop_is_counted_once(
    reach: Reach, django_capture_on_commit_callbacks: Committed
) -> None:
    number = "+4915112345678"
    person = reach(email="maria@sandbox.example", sms=number)
    link = Link(recipient_id=person.pk, channel=Channel.EMAIL, topic="social")
    stop = InboundText(from_address=number, to_address="", text="STOP", provider_message_id="1")
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            unsubscribe.leave(link, Choice.TOPIC)
            unsubscribe.leave(link, Choice.CHANNEL)
            inbound_sms.process("sandbox", [stop])
    assert told("opt_outs") == [
        f'notifications_opt_outs_total{{cause="{cause}"}} 1.0'
        for cause in ("category", "stop_keyword", "unsubscribe_all")
    ]


def test_without_the_state_redis_everything_goes_on_uncounted(
    reach: Reach,
    take: Accept,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Committed,
) -> None:
    Preference.objects.create(
        recipient=reach(email="maria@sandbox.example"), categories_off=["social"]
    )
    gone = replace(conf.current(), state_url="redis://127.0.0.1:1/0")
    monkeypatch.setattr(conf, "current", lambda: gone)
    state.forget()
    try:
        with django_capture_on_commit_callbacks(execute=True):
            [row] = deliveries_of(take())
        assert row.reason == "opted_out"
        assert "notifications_moved" not in Client().get("/metrics").content.decode()
    finally:
        monkeypatch.undo()
        state.forget()
