"""What a producer may hand in at once, and how it is told."""

from __future__ import annotations

import pytest

from notifications.rules.lane import Mode
from notifications.store import limits, state
from notifications.store.limits import Quota
from tests.api.conftest import MakeCaller


@pytest.fixture(params=["in Redis", "in the process"])
def _place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both places keep the same promises."""
    if request.param == "in the process":

        def away(*_: object) -> object:
            raise state.Away

        monkeypatch.setattr(state, "call", away)


pytestmark = pytest.mark.usefixtures("_place")


def _take(cost: int, *, rate: int = 1, burst: int = 10, mode: Mode = Mode.LIVE) -> Quota:
    charge = limits.Charge(producer_id=7, mode=mode, cost=cost, rate_per_second=rate, burst=burst)
    [quota] = limits.take([charge])
    return quota


def test_a_burst_is_granted_and_then_no_more() -> None:
    assert _take(10).granted
    refused = _take(1)
    assert not refused.granted
    assert refused.remaining == 0
    assert 0 < refused.retry_after.total_seconds() <= 1


def test_what_is_refused_costs_nothing() -> None:
    assert _take(6).granted
    assert not _take(5).granted
    assert _take(4).granted


def test_a_call_larger_than_the_burst_is_granted_when_nothing_is_owed_and_paid_off_after() -> None:
    assert _take(25).granted
    refused = _take(1)
    assert not refused.granted
    assert refused.retry_after.total_seconds() > 15


def test_test_mode_has_a_bucket_of_its_own() -> None:
    assert _take(10).granted
    assert _take(10, mode=Mode.TEST).granted


def test_a_rate_of_nothing_still_refuses_instead_of_failing() -> None:
    assert _take(10, rate=0).granted
    assert not _take(10, rate=0).granted


def test_a_rate_above_a_million_a_second_is_no_trouble() -> None:
    assert _take(10, rate=2_000_000_000).granted
    assert _take(10, rate=2_000_000_000).granted


def test_the_answer_says_what_is_left_and_a_refusal_when_to_come_back(
    make_caller: MakeCaller,
) -> None:
    caller = make_caller(rate_per_second=1, rate_burst=2)
    body = {"user_id": "nobody", "type": "X", "content": {"body": "hi"}}
    first = caller.post("/v1/notifications", body)
    assert first.headers["RateLimit-Policy"] == '"producer";q=2;w=2'
    assert first.headers["RateLimit"] == '"producer";r=1;t=1'
    refused = caller.post("/v1/notifications/batch", {"notifications": [body, body]})
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "1"
    assert refused.headers["RateLimit"].startswith('"producer";r=1;t=')
    assert refused.json()["code"] == "rate-limited"
