"""What accepting stores, refuses and repeats."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from uuid import UUID

import pytest

from notifications.core import clock, conf
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, BatchResult, Caller, Refused
from notifications.core.models import Notification, Preference, Rejected
from notifications.core.rules import request
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.sensitive import Sensitive
from notifications.core.rules.states import Status
from notifications.core.store.postgres import fair_queue, secret_variables
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.redis import state
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of

_BODY = Fingerprint(Sensitive(b"a body"))
_OTHER_BODY = Fingerprint(Sensitive(b"another body"))


def _kind(answer: AcceptedRequest | Refused) -> Kind:
    assert isinstance(answer, Refused), answer
    return answer.problem.kind


def _notification(answer: AcceptedRequest | Refused) -> Notification:
    assert isinstance(answer, AcceptedRequest), answer
    return Notification.objects.get(id=UUID(answer.response["notification_id"]))


def test_the_router_gives_a_type_its_priority_and_a_producer_may_override_it(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    assert _notification(take()).priority == Priority.P2
    assert _notification(take(priority="P1")).priority == Priority.P1


def test_a_type_that_the_router_does_not_know_needs_a_priority(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    assert _kind(take(type="NEW")) is Kind.INVALID
    assert isinstance(take(type="NEW", priority="P3"), AcceptedRequest)


def test_what_a_producer_may_not_do_is_forbidden(reach: Reach, caller: Caller) -> None:
    reach(email="maria@sandbox.example")
    modest = replace(caller, priorities=frozenset({Priority.P3}), may_send_content=False)
    body = {"user_id": "maria", "type": "LIKE", "channels": ["email"]}
    urgent = request.parse({**body, "template_id": "otp", "priority": "P0"})
    raw = request.parse({**body, "content": {"body": "hi"}, "priority": "P3"})
    assert not isinstance(urgent, Problem)
    assert not isinstance(raw, Problem)
    answers = accept.accept(modest, [urgent, raw])
    assert [_kind(answer) for answer in answers] == [Kind.FORBIDDEN, Kind.FORBIDDEN]


def test_an_unknown_recipient_is_refused_and_noted(take: Accept) -> None:
    assert _kind(take(user_id="nobody")) is Kind.UNKNOWN_RECIPIENT
    noted = Rejected.objects.get()
    assert (noted.user_id, noted.type, noted.pointers) == ("nobody", "LIKE", ["/user_id"])


def test_a_live_recipient_is_unknown_in_test_mode(reach: Reach, caller: Caller) -> None:
    reach(email="maria@sandbox.example")
    wanted = request.parse({"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}})
    assert not isinstance(wanted, Problem)
    [answer] = accept.accept(replace(caller, mode=Mode.TEST), [wanted])
    assert _kind(answer) is Kind.UNKNOWN_RECIPIENT


def test_sensitive_variables_are_stored_sealed_and_nowhere_else(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    stored = _notification(take())
    assert stored.variables == {"name": "Ana"}
    assert stored.secrets is not None
    assert b"4711" not in bytes(stored.secrets)
    assert secret_variables.decrypt(bytes(stored.secrets)).reveal() == {"code": "4711"}


def test_each_device_gets_its_own_delivery(reach: Reach, take: Accept) -> None:
    reach(push=["token-1", "token-2"], email="maria@sandbox.example")
    born = deliveries_of(take(channels=["push", "email"]))
    assert [each.channel for each in born] == [Channel.PUSH, Channel.PUSH]
    assert [each.status for each in born] == [Status.QUEUED, Status.QUEUED]


def test_a_recipient_who_switched_the_channel_off_leaves_a_line_that_says_so(
    reach: Reach, take: Accept
) -> None:
    person = reach(email="maria@sandbox.example")
    Preference.objects.create(recipient=person, channels_off=[Channel.EMAIL])
    [delivery] = deliveries_of(take(priority="P0"))
    assert (delivery.status, delivery.reason) == (Status.SUPPRESSED, "opted_out")
    assert delivery.due_at is None


@pytest.mark.parametrize("off", ["social", "LIKE"])
def test_a_category_or_a_type_stops_all_but_security(reach: Reach, take: Accept, off: str) -> None:
    person = reach(email="maria@sandbox.example")
    Preference.objects.create(recipient=person, categories_off=[off])
    [social] = deliveries_of(take())
    [security] = deliveries_of(take(priority="P0"))
    assert (social.status, security.status) == (Status.SUPPRESSED, Status.QUEUED)


@pytest.mark.parametrize("state_is_away", [False, True])
def test_a_key_is_taken_once_with_or_without_the_state_redis(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch, *, state_is_away: bool
) -> None:
    reach(email="maria@sandbox.example")
    if state_is_away:
        gone = replace(conf.current(), state_url="redis://127.0.0.1:1/0")
        monkeypatch.setattr(conf, "current", lambda: gone)
        state.forget()
    try:
        first, again = take(idempotency_key="k"), take(idempotency_key="k")
        other = take(idempotency_key="k", priority="P1")
    finally:
        monkeypatch.undo()
        state.forget()
    assert isinstance(first, AcceptedRequest)
    assert isinstance(again, AcceptedRequest)
    assert (first.replayed, again.replayed) == (False, True)
    assert again.response == first.response
    assert _kind(other) is Kind.KEY_REUSED
    assert Notification.objects.count() == 1


def test_a_key_that_stands_twice_in_one_batch_counts_once(reach: Reach, caller: Caller) -> None:
    reach(email="maria@sandbox.example")
    body = {"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}, "idempotency_key": "k"}
    same, other = request.parse(body), request.parse({**body, "content": {"body": "ho"}})
    assert not isinstance(same, Problem)
    assert not isinstance(other, Problem)
    first, again, reused = accept.accept(caller, [same, same, other])
    assert isinstance(first, AcceptedRequest)
    assert isinstance(again, AcceptedRequest)
    assert (first.replayed, again.replayed) == (False, True)
    assert _kind(reused) is Kind.KEY_REUSED


def test_a_whole_call_is_answered_the_same_again(reach: Reach, caller: Caller) -> None:
    reach(email="maria@sandbox.example")
    good = request.parse({"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}})
    bad = request.parse({"user_id": "maria"})
    asked = [good, bad]
    first = accept.accept_once(caller, "whole", _BODY, asked)
    again = accept.accept_once(caller, "whole", _BODY, asked)
    other = accept.accept_once(caller, "whole", _OTHER_BODY, asked)
    assert isinstance(first, accept.BatchResult)
    assert isinstance(again, accept.BatchResult)
    assert again.replayed
    assert isinstance(first.results[0], AcceptedRequest)
    assert isinstance(again.results[0], AcceptedRequest)
    assert again.results[0].response == first.results[0].response
    assert again.results[1] == first.results[1]
    assert isinstance(other, Problem)
    assert other.kind is Kind.KEY_REUSED
    assert Notification.objects.count() == 1


def test_nothing_may_lie_too_far_ahead(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    far = clock.now() + dt.timedelta(days=59.5)
    assert _kind(take(scheduled_at=far.isoformat())) is Kind.INVALID
    near = clock.now() + dt.timedelta(days=50)
    [delivery] = deliveries_of(take(scheduled_at=near.isoformat()))
    assert (delivery.status, delivery.due_at) == (Status.SCHEDULED, near)


def test_a_template_without_a_text_for_the_channel_is_refused(reach: Reach, take: Accept) -> None:
    reach(chat="https://chat.example/hook")
    assert _kind(take(channels=["chat"])) is Kind.INVALID
    assert _kind(take(template_id="none")) is Kind.INVALID


def test_the_keys_of_items_count_beside_the_key_of_the_whole_call(
    reach: Reach, caller: Caller
) -> None:
    reach(email="maria@sandbox.example")
    body = {"user_id": "maria", "type": "LIKE", "content": {"body": "hi"}}
    before, fresh, twice, whole, other = (
        request.parse({**body, "idempotency_key": key, **more})
        for key, more in (
            ("before", {}),
            ("fresh", {}),
            ("fresh", {}),
            ("whole", {}),
            ("before", {"priority": "P1"}),
        )
    )
    asked = [each for each in (before, fresh, twice, whole, other) if not isinstance(each, Problem)]
    [first] = accept.accept(caller, asked[:1])
    answer = accept.accept_once(caller, "whole", _BODY, asked)
    assert isinstance(answer, BatchResult)
    results = [
        _kind(each) if isinstance(each, Refused) else each.replayed for each in answer.results
    ]
    assert results == [True, False, True, Kind.KEY_REUSED, Kind.KEY_REUSED]
    assert isinstance(first, AcceptedRequest)
    assert isinstance(answer.results[0], AcceptedRequest)
    assert answer.results[0].response == first.response
    again = accept.accept_once(caller, "whole", _BODY, asked)
    assert isinstance(again, BatchResult)
    assert again.replayed
    assert [_response(each) for each in again.results] == [
        _response(each) for each in answer.results
    ]
    [single] = accept.accept(caller, asked[1:2])
    assert isinstance(single, AcceptedRequest)
    assert single.replayed
    assert Notification.objects.count() == 2


def _response(answer: AcceptedRequest | Refused) -> object:
    return answer.response if isinstance(answer, AcceptedRequest) else answer.problem


def test_a_row_of_p2_takes_its_place_behind_the_relay_and_before_others_backlogs(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    behind = clock.now() - dt.timedelta(hours=1)
    lane = Lane(Mode.LIVE, Priority.P2, Channel.EMAIL)
    fair_queue.note_taken(lane, last=behind)
    [first] = deliveries_of(take())
    [second] = deliveries_of(take())
    assert [first.due_at, second.due_at] == [
        behind + dt.timedelta(microseconds=number) for number in (1, 2)
    ]
    [urgent] = deliveries_of(take(priority="P1"))
    assert urgent.due_at is not None
    assert urgent.due_at > clock.now() - dt.timedelta(minutes=1)
