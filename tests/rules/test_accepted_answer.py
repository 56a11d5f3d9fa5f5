"""An answer that was packed and read again has the same bytes."""

from __future__ import annotations

import datetime as dt
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules import accepted_answer, ids
from notifications.core.rules.accepted_answer import AcceptedAnswer
from notifications.core.rules.lane import Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from providers.contract import Channel

_ANSWER = AcceptedAnswer(
    UUID("01a228d3-118b-730c-a0c1-f3372c5ed000"),
    Priority.P1,
    [(Channel.EMAIL, Status.QUEUED), (Channel.SMS, Status.SUPPRESSED)],
    dt.datetime(2026, 11, 29, 19, 40, 51, 25832, tzinfo=dt.UTC),
    [(Channel.PUSH, "no_contact")],
)


@st.composite
def _answers(draw: st.DrawFn) -> AcceptedAnswer:
    pairs = st.tuples(st.sampled_from(Channel), st.sampled_from(Status))
    entropy = draw(st.integers(0, 2**ids.RANDOM_BITS - 1))
    return AcceptedAnswer(
        ids.notification_id(at_ms=draw(st.integers(0, 2**48 - 1)), entropy=entropy),
        draw(st.sampled_from(Priority)),
        draw(st.lists(pairs, min_size=1, max_size=40)),
        draw(st.datetimes(timezones=st.just(dt.UTC))),
        draw(st.lists(st.tuples(st.sampled_from(Channel), st.sampled_from(Reason)), max_size=6)),
    )


@given(_answers())
def test_an_answer_that_was_packed_has_the_same_bytes(answer: AcceptedAnswer) -> None:
    again = accepted_answer.unpack(accepted_answer.pack(answer))
    assert orjson.dumps(accepted_answer.as_json(again)) == orjson.dumps(
        accepted_answer.as_json(answer)
    )


def test_an_answer_of_the_greatest_number_of_deliveries_is_packed() -> None:
    pairs = [(Channel.PUSH, Status.QUEUED)] * ids.MAX_DELIVERIES
    answer = _ANSWER._replace(deliveries=pairs)
    again = accepted_answer.unpack(accepted_answer.pack(answer))
    assert accepted_answer.as_json(again) == accepted_answer.as_json(answer)


def test_the_form_of_this_release_stays_readable() -> None:
    packed = bytes.fromhex(
        "0101a228d3118b730ca0c1f3372c5ed0000006616f787d9ba80100020302020c010a6e6f5f636f6e74616374"
    )
    first = accepted_answer.pack(_ANSWER)
    assert accepted_answer.as_json(accepted_answer.unpack(first)) == {
        "notification_id": "01a228d3-118b-730c-a0c1-f3372c5ed000",
        "status": "queued",
        "priority": "P1",
        "deliveries": [
            {
                "delivery_id": "01a228d3-118b-730c-a0c1-f3372c5ed001",
                "channel": "email",
                "status": "queued",
            },
            {
                "delivery_id": "01a228d3-118b-730c-a0c1-f3372c5ed002",
                "channel": "sms",
                "status": "suppressed",
            },
        ],
        "created_at": "2026-11-29T19:40:51.025832Z",
        "skipped": [{"channel": "push", "reason": "no_contact"}],
    }
    assert first == packed


def test_the_form_of_a_later_release_is_an_error() -> None:
    later = b"\x02" + accepted_answer.pack(_ANSWER)[1:]
    with pytest.raises(ValueError, match="has the form 02"):
        accepted_answer.unpack(later)


_UNKNOWN_CHANNEL = max(Channel) + 1
_UNKNOWN_STATUS = max(Status) + 1


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"deliveries": [(_UNKNOWN_CHANNEL, Status.QUEUED)]}, f"channel {_UNKNOWN_CHANNEL}"),
        ({"skipped": [(_UNKNOWN_CHANNEL, "no_contact")]}, f"channel {_UNKNOWN_CHANNEL}"),
        ({"deliveries": [(Channel.SMS, _UNKNOWN_STATUS)]}, f"status {_UNKNOWN_STATUS}"),
        ({"priority": max(Priority) + 1}, "Priority"),
    ],
)
def test_a_number_of_a_later_release_is_an_error(changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        accepted_answer.unpack(accepted_answer.pack(_ANSWER._replace(**changed)))


def test_a_form_that_is_cut_off_is_an_error() -> None:
    packed = accepted_answer.pack(_ANSWER)
    without_skipped = len(accepted_answer.pack(_ANSWER._replace(skipped=())))
    for length in {*range(len(packed))} - {without_skipped}:
        with pytest.raises(ValueError, match="kept answer"):
            accepted_answer.unpack(packed[:length])
