"""What follows a call: free calls stay free, silence is no failure, and every decision is legal."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import transitions, unanswered
from notifications.core.rules.lane import DEFAULT_TIME_TO_LIVE, Priority
from notifications.core.rules.outcomes import HOLD_FOR_PROVIDER, Circumstances, decide
from notifications.core.rules.reasons import Reason
from notifications.core.rules.retries import PRESETS
from notifications.core.rules.states import Status
from providers.contract import (
    Accepted,
    Channel,
    Misconfigured,
    NotStarted,
    Rejected,
    Repeat,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.refused_parts import RefusedPart
from tests.architecture.states_page import picture

_FIRST_CALL = Circumstances(
    channel=Channel.EMAIL,
    priority=Priority.P2,
    repeat=Repeat.VISIBLE,
    preset=PRESETS["worker"],
    calls=1,
    calls_counted=1,
    resent=False,
    is_probe=False,
    perhaps_sent=False,
    time_to_live=dt.timedelta(days=1),
    chance=0.5,
)
_OUTCOMES = [
    Accepted(message_id="1"),
    Throttled(code="429"),
    Unavailable(code="503"),
    NotStarted(),
    Rejected(code="400"),
    Rejected(code="not verified", refused_part=RefusedPart.SENDER),
    Misconfigured(code="401"),
    Unanswered(code="timeout"),
]
_CIRCUMSTANCES = st.builds(
    Circumstances,
    channel=st.sampled_from(Channel),
    priority=st.sampled_from(Priority),
    repeat=st.sampled_from(Repeat),
    preset=st.sampled_from(sorted(PRESETS.values(), key=lambda each: each.name)),
    calls=st.integers(1, 40),
    calls_counted=st.integers(1, 8),
    resent=st.booleans(),
    is_probe=st.booleans(),
    perhaps_sent=st.booleans(),
    passed_by=st.booleans(),
    in_doubt=st.booleans(),
    is_one_of_many=st.booleans(),
    time_to_live=st.timedeltas(dt.timedelta(0), dt.timedelta(days=2)),
    chance=st.floats(0, 1, exclude_max=True),
)


@pytest.mark.parametrize("outcome", _OUTCOMES[1:])
@pytest.mark.parametrize("resent", [False, True])
def test_an_urgent_sms_that_may_have_left_by_another_provider_is_resent_once(
    outcome: Unanswered, *, resent: bool
) -> None:
    known = replace(
        _FIRST_CALL,
        channel=Channel.SMS,
        priority=Priority.P0,
        in_doubt=True,
        passed_by=True,
        resent=resent,
    )
    decision = decide(outcome, known)
    assert decision.transition is transitions.LEAVE_UNANSWERED
    assert decision.due_in == (unanswered.CLOSE_AFTER if resent else unanswered.RECHECK_AFTER)
    sent = decide(Accepted(message_id="1"), known)
    assert sent.transition is transitions.ACCEPT


def test_a_refusal_of_its_own_is_not_final_while_another_provider_was_only_away() -> None:
    own = Rejected(code="21408", another_provider_may_accept=True)
    away = replace(_FIRST_CALL, passed_by=True)
    assert decide(own, away).transition is transitions.RETRY
    assert decide(own, _FIRST_CALL).transition is transitions.REJECT
    assert decide(Rejected(code="400"), away).transition is transitions.REJECT


@pytest.mark.parametrize("priority", Priority)
def test_one_of_many_refusals_of_a_part_waits_and_makes_no_flood_of_calls(
    priority: Priority,
) -> None:
    known = replace(_FIRST_CALL, priority=priority, is_one_of_many=True, calls=9)
    decision = decide(Rejected(code="1", refused_part=RefusedPart.SANDBOX), known)
    assert (decision.transition, decision.reason) == (transitions.RETRY_REFUNDED, "in_sandbox")
    assert decision.due_in is not None
    assert decision.due_in >= HOLD_FOR_PROVIDER
    assert decide(Rejected(code="1"), known).transition is transitions.REJECT


@pytest.mark.parametrize("priority", Priority)
def test_a_waiting_message_of_many_refusals_is_called_rarely_and_a_last_time_before_its_end(
    priority: Priority,
) -> None:
    refused = Rejected(code="1", refused_part=RefusedPart.SENDER)
    left, calls = DEFAULT_TIME_TO_LIVE[priority], 0
    while True:
        calls += 1
        known = replace(
            _FIRST_CALL, priority=priority, is_one_of_many=True, calls=calls, time_to_live=left
        )
        decision = decide(refused, known)
        if decision.due_in is None:
            break
        assert decision.due_in < left
        left -= decision.due_in
    assert decision.reason == Reason.TTL_EXCEEDED
    assert left < dt.timedelta(seconds=30)
    assert calls < 150  # 3,840 of P3 in its two days, if each wait were 45 s


def test_an_unknown_part_of_a_later_release_is_a_plain_refusal() -> None:
    refused = Rejected(code="1", refused_part="tone")  # type: ignore[arg-type]  # of the ledger
    assert decide(refused, _FIRST_CALL).reason == "permanent"


@given(st.sampled_from(_OUTCOMES), _CIRCUMSTANCES)
def test_every_decision_is_a_legal_move_of_a_row_that_is_being_sent(
    outcome: Unanswered, known: Circumstances
) -> None:
    decision = decide(outcome, known)
    assert Status.SENDING in decision.transition.sources
    is_final = decision.transition.to in {Status.SENT, Status.FAILED}
    assert (decision.due_in is None) is is_final
    if decision.republish_in is not None and not isinstance(outcome, NotStarted):
        assert decision.republish_in == decision.due_in


@given(_CIRCUMSTANCES)
def test_a_wait_that_is_used_never_outlives_the_time_to_live(known: Circumstances) -> None:
    decision = decide(Unavailable(), known)
    if decision.transition.to is Status.RETRYING:
        assert decision.due_in is not None
        assert decision.due_in < known.time_to_live


@pytest.mark.parametrize("calls", [1, 5, 100])
def test_a_throttled_call_spends_no_attempt_however_often_it_happens(calls: int) -> None:
    known = replace(_FIRST_CALL, calls=calls, calls_counted=calls)
    decision = decide(Throttled(retry_after=dt.timedelta(seconds=40)), known)
    assert decision.transition is transitions.RETRY_REFUNDED
    assert decision.reason == Reason.THROTTLED
    assert decision.due_in is not None
    assert decision.due_in >= dt.timedelta(seconds=40)


@pytest.mark.parametrize("calls", [1, 3, 6])
@pytest.mark.parametrize("retry_after", [None, dt.timedelta(seconds=2)])
def test_an_urgent_message_is_tried_again_within_seconds_of_a_throttle(
    calls: int, retry_after: dt.timedelta | None
) -> None:
    known = replace(
        _FIRST_CALL,
        priority=Priority.P0,
        preset=PRESETS["critical"],
        calls=calls,
        calls_counted=1,
        time_to_live=dt.timedelta(minutes=5),
        chance=0.999,
    )
    decision = decide(Throttled(retry_after=retry_after), known)
    assert decision.transition is transitions.RETRY_REFUNDED
    assert decision.due_in is not None
    assert decision.due_in <= dt.timedelta(seconds=10)


def test_a_failed_probe_spends_no_attempt_and_is_never_the_last_one() -> None:
    last = replace(_FIRST_CALL, calls=5, calls_counted=5)
    assert decide(Unavailable(), last).transition is transitions.REJECT
    probe = decide(Unavailable(), replace(last, is_probe=True))
    assert probe.transition is transitions.RETRY_REFUNDED


def test_a_call_that_did_not_begin_goes_back_at_once_and_spends_nothing() -> None:
    decision = decide(NotStarted(), replace(_FIRST_CALL, calls_counted=99))
    assert decision.transition is transitions.RETURN_REFUNDED
    assert decision.republish_in == dt.timedelta(0)


@pytest.mark.parametrize("outcome", [Unavailable(), Throttled(), Unanswered()])
def test_what_may_have_been_sent_does_not_end_as_failed(outcome: Unanswered) -> None:
    known = replace(
        _FIRST_CALL,
        repeat=Repeat.HIDDEN,
        calls=5,
        calls_counted=5,
        perhaps_sent=True,
        time_to_live=dt.timedelta(milliseconds=1),
    )
    decision = decide(outcome, known)
    assert decision.transition is transitions.LEAVE_UNANSWERED
    assert decision.due_in == unanswered.CLOSE_AFTER


def test_the_picture_of_the_state_machine_shows_every_transition() -> None:
    drawn = picture()
    assert all(each.name in drawn for each in transitions.TRANSITIONS)
