"""Limits of a producer: the requests at once, and the refusal."""

from __future__ import annotations

import pytest

from notifications.core.api import templates
from notifications.core.rules.lane import Mode
from notifications.core.store.rate_limits import producer_limits
from notifications.core.store.rate_limits.producer_limits import Quota
from notifications.core.store.redis import state
from notifications.features.audiences.api import audiences
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
    charge = producer_limits.Charge(
        producer_id=7, mode=mode, cost=cost, rate_per_second=rate, burst=burst
    )
    [quota] = producer_limits.take([charge])
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


@pytest.mark.parametrize(
    ("method", "path", "body", "cost"),
    [
        ("GET", "/v1/me", None, 0),
        ("GET", "/v1/notifications", None, 0),
        ("PUT", "/v1/recipients/lisa", {}, 1),
        ("POST", "/v1/schedules", {}, 1),
        ("POST", "/v1/templates", {}, 1),
        ("POST", "/v1/notifications", {}, 1),
        ("POST", "/v1/notifications/batch", {"notifications": [{}] * 7}, 7),
        ("POST", "/v1/dead-letters/replay", {"reason": "permanent"}, 1),
    ],
)
def test_each_answer_tells_what_is_left_and_each_write_costs(
    make_caller: MakeCaller, method: str, path: str, body: object, cost: int
) -> None:
    caller = make_caller(rate_per_second=0, rate_burst=20)  # it fills by 1 in a second at most
    answer = caller.send(method, path, body)
    assert answer.headers["RateLimit-Policy"] == '"producer";q=20;w=20'
    assert answer.headers["RateLimit"].startswith(f'"producer";r={20 - cost};')


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH", "DELETE"])
def test_a_producer_over_its_limit_writes_nothing(make_caller: MakeCaller, method: str) -> None:
    caller = make_caller(rate_per_second=1, rate_burst=1)
    paths = {"PUT": "", "POST": "/contacts", "PATCH": "/preferences", "DELETE": "/contacts/1"}
    assert caller.send("PUT", "/v1/recipients/lisa", {}).status_code == 201
    refused = caller.send(method, f"/v1/recipients/lisa{paths[method]}", {})
    assert refused.status_code == 429
    assert caller.get("/v1/recipients/lisa").status_code == 200


def test_a_preview_costs_the_time_that_it_takes(
    make_caller: MakeCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = make_caller(rate_per_second=0, rate_burst=1_000)
    monkeypatch.setattr(templates, "monotonic", iter([0.0, 2.5]).__next__)
    caller.post("/v1/templates/none/preview", {"channel": "sms"})
    left = caller.get("/v1/me").json()["rate"]["remaining"]
    assert left == 1_000 - 1 - 250


def test_an_estimate_of_an_audience_costs_the_time_that_it_takes(
    make_caller: MakeCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = make_caller(rate_per_second=0, rate_burst=1_000)
    monkeypatch.setattr(audiences, "monotonic", iter([0.0, 2.5, 3.0, 3.5]).__next__)
    assert (
        caller.post("/v1/audiences/estimate", {"audience": {"everyone": True}}).status_code == 200
    )
    caller.post("/v1/audiences/estimate", {"audience": {"topic": "none"}})
    assert caller.get("/v1/me").json()["rate"]["remaining"] == 1_000 - 1 - 50 - 1 - 10


def test_a_file_costs_its_lines(make_caller: MakeCaller) -> None:
    caller = make_caller(rate_per_second=0, rate_burst=100)
    lines = "channel,address\n" + "email,a@example.com\n" * 1_000
    answer = caller._client.post("/v1/suppressions", lines, content_type="text/csv")
    assert answer.status_code == 200, answer.content
    assert caller.get("/v1/me").json()["rate"]["remaining"] == 100 - 1 - 10


def test_what_is_taken_in_part_is_what_is_left_or_its_share() -> None:
    charge = producer_limits.Charge(
        producer_id=7, mode=Mode.LIVE, cost=100, rate_per_second=1, burst=10
    )
    assert producer_limits.take_some(charge, share=2).taken == 5
    assert producer_limits.take_some(charge).taken == 5
    assert producer_limits.take_some(charge).taken == 0


def test_a_key_is_told_what_it_is_and_may_do(make_caller: MakeCaller) -> None:
    caller = make_caller(
        mode=Mode.TEST, scopes=("templates:read",), priorities=[2, 3], rate_per_second=7
    )
    said = caller.get("/v1/me").json()
    assert said["rate"].pop("full_in_s") >= 0
    assert said == {
        "producer": "orders",
        "mode": "test",
        "key_prefix": caller.key.prefix,
        "scopes": ["templates:read"],
        "expires_at": None,
        "priorities": ["P2", "P3"],
        "may_send_content": True,
        "rate": {"per_second": 7, "burst": 5_000, "remaining": 5_000},
        "schedules": {"limit": 1_000, "used": 0},
        "sms_countries": [],
    }
