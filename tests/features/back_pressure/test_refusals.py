"""New P3 posts while the lag of their lane is over its limit."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from notifications.core import clock
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, BatchResult, Caller, Refused
from notifications.core.models import LaneLag, Notification, Rejected
from notifications.core.rules import request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import NotificationRequest
from notifications.core.rules.sensitive import Sensitive
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.redis import state
from notifications.features.back_pressure import refusals
from providers.contract import Channel
from tests.journey import Reach

_WAIT = dt.timedelta(seconds=60)


@pytest.fixture
def producer(caller: Caller, reach: Reach) -> Caller:
    """A producer whose posts heed the lag, and a recipient; the lane p3.email is behind."""
    reach(email="maria@sandbox.example")
    LaneLag.objects.create(
        mode=Mode.LIVE,
        priority=Priority.P3,
        channel=Channel.EMAIL,
        sampled_at=clock.now(),
        refuses_since=clock.now(),
        retry_after_seconds=60,
    )
    refusals.forget()
    return replace(caller, is_post=True)


def _asked(priority: str = "P3", **fields: object) -> NotificationRequest:
    body = {
        "user_id": "maria",
        "type": "SALE",
        "priority": priority,
        "channels": ["email"],
        "content": {"body": "hi"},
        **fields,
    }
    parsed = request.parse(body)
    assert not isinstance(parsed, Problem), parsed
    return parsed


def test_p3_is_refused_with_a_wait_and_nothing_is_stored(producer: Caller) -> None:
    [answer] = accept.accept(producer, [_asked()])
    assert isinstance(answer, Refused)
    assert answer.problem.kind is Kind.LANE_BEHIND
    assert answer.problem.retry_after is not None
    assert _WAIT <= answer.problem.retry_after <= _WAIT * 1.5
    assert not Notification.objects.exists()
    assert not Rejected.objects.exists()


@pytest.mark.parametrize("priority", ["P0", "P1", "P2"])
def test_other_priorities_are_accepted(producer: Caller, priority: str) -> None:
    [answer] = accept.accept(producer, [_asked(priority)])
    assert isinstance(answer, AcceptedRequest)


def test_a_scheduled_notification_is_accepted(producer: Caller) -> None:
    later = (clock.now() + dt.timedelta(hours=5)).isoformat()
    [answer] = accept.accept(producer, [_asked(scheduled_at=later)])
    assert isinstance(answer, AcceptedRequest)


def test_messages_of_the_service_are_accepted(producer: Caller) -> None:
    [answer] = accept.accept(replace(producer, is_post=False), [_asked()])
    assert isinstance(answer, AcceptedRequest)


def test_a_repeat_gets_the_first_answer(producer: Caller) -> None:
    asked = _asked(idempotency_key="sale-1")
    LaneLag.objects.update(refuses_since=None)
    refusals.forget()
    [first] = accept.accept(producer, [asked])
    LaneLag.objects.update(refuses_since=clock.now())
    refusals.forget()
    [again] = accept.accept(producer, [asked])
    assert isinstance(first, AcceptedRequest)
    assert isinstance(again, AcceptedRequest)
    assert again.replayed


def test_a_refused_key_is_free_for_the_next_try(producer: Caller) -> None:
    asked = _asked(idempotency_key="sale-1")
    assert isinstance(accept.accept(producer, [asked])[0], Refused)
    LaneLag.objects.update(refuses_since=None)
    refusals.forget()
    [answer] = accept.accept(producer, [asked])
    assert isinstance(answer, AcceptedRequest)
    assert not answer.replayed


def test_a_call_with_refused_items_alone_stores_no_answer(producer: Caller) -> None:
    body = Fingerprint(Sensitive(b"body"))
    problem = accept.accept_once(producer, "whole", body, [_asked(), _asked()])
    assert isinstance(problem, Problem)
    assert problem.kind is Kind.LANE_BEHIND
    LaneLag.objects.update(refuses_since=None)
    refusals.forget()
    answer = accept.accept_once(producer, "whole", body, [_asked(), _asked()])
    assert isinstance(answer, BatchResult)
    assert not answer.replayed


def test_a_call_with_other_items_is_stored_with_its_answers(producer: Caller) -> None:
    body = Fingerprint(Sensitive(b"body"))
    answer = accept.accept_once(producer, "whole", body, [_asked("P1"), _asked()])
    assert isinstance(answer, BatchResult)
    assert [type(each) for each in answer.results] == [AcceptedRequest, Refused]
    again = accept.accept_once(producer, "whole", body, [_asked("P1"), _asked()])
    assert isinstance(again, BatchResult)
    assert again.replayed
    assert Notification.objects.count() == 1


@pytest.mark.usefixtures("producer")
def test_without_the_state_redis_the_answer_is_the_same(
    producer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_args: object) -> None:
        raise state.Away

    monkeypatch.setattr(state, "call", away)
    [answer] = accept.accept(producer, [_asked()])
    assert isinstance(answer, Refused)
    assert isinstance(accept.accept(producer, [_asked("P2")])[0], AcceptedRequest)
