"""Clients without a key are limited by their address; whoever was recognised is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from notifications.core import conf
from notifications.core.api import clients
from notifications.core.store.postgres import api_keys
from notifications.core.store.rate_limits import address_limits
from notifications.core.store.redis import state
from tests.api.conftest import Caller, MakeCaller

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

RATE = 1
BURST = 10 * RATE
STRANGER = "198.51.100.7"


@pytest.fixture(autouse=True)
def _low_limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    _set(monkeypatch, open_requests_per_second=RATE)
    # However slow the machine is, nothing is paid off during a test.
    monkeypatch.setattr(address_limits, "_price", lambda _rate: 3_600_000_000.0)
    address_limits.forget()
    yield
    address_limits.forget()


def _set(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    now = conf.current()
    web = dataclasses.replace(now.web, **fields)  # type: ignore[arg-type]  # fields of Web
    changed = dataclasses.replace(now, web=web)
    monkeypatch.setattr(conf, "current", lambda: changed)


def _unknown(number: int) -> str:
    return f"Bearer nk_live_{number:08d}_{'b' * 52}"


def _ask(path: str, address: str = STRANGER, **headers: str) -> Reply:
    return Client(REMOTE_ADDR=address).get(path, headers=headers)


@pytest.fixture(params=["in Redis", "in the process"])
def _place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in the process":

        def away(*_: object) -> object:
            raise state.Away

        monkeypatch.setattr(state, "call", away)


@pytest.mark.usefixtures("_place")
def test_wrong_keys_cost_so_many_queries_and_then_none() -> None:
    with CaptureQueriesContext(connection) as asked:
        answers = [_ask("/v1/alerts", Authorization=_unknown(number)) for number in range(30)]
    statuses = [answer.status_code for answer in answers]
    assert statuses[:BURST] == [401] * BURST
    assert statuses[BURST:] == [429] * (30 - BURST)
    assert len(asked) <= BURST + 1
    assert int(answers[-1]["Retry-After"]) > 1
    assert answers[-1].json()["type"].endswith("rate-limited")


def test_a_caller_behind_the_address_of_a_stranger_is_heard(make_caller: MakeCaller) -> None:
    caller = make_caller()
    good = f"Bearer {caller.secret}"
    assert _ask("/v1/alerts", Authorization=good).status_code == 200
    while _ask("/v1/alerts", Authorization=_unknown(1)).status_code != 429:
        pass
    for _ in range(3):
        assert _ask("/v1/alerts", Authorization=good).status_code == 200
        # Read again when the second of memory is over.
        api_keys._cache.update({
            prefix: (-10.0, known) for prefix, (_, known) in api_keys._cache.items()
        })


def test_another_address_is_not_concerned() -> None:
    while _ask("/v1/alerts", Authorization=_unknown(1)).status_code != 429:
        pass
    assert _ask("/v1/alerts", "203.0.113.5", Authorization=_unknown(2)).status_code == 401


def test_ten_thousand_wrong_prefixes_forget_no_good_key(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.get("/v1/alerts")
    monkeypatch.setattr(api_keys, "_MOST_UNKNOWN", 5)
    for number in range(20):
        assert api_keys.recognise(_unknown(number).removeprefix("Bearer ")) is None
    assert len(api_keys._unknown) <= 5
    known = api_keys.verified(caller.secret)
    assert known is not None
    assert known.prefix == caller.key.prefix


def test_a_key_that_is_made_is_known_after_a_second(caller: Caller) -> None:
    prefix = caller.key.prefix
    api_keys.forget()
    api_keys._unknown[prefix] = -10.0
    assert api_keys.recognise(caller.secret) is not None


@pytest.mark.usefixtures("_place")
@pytest.mark.parametrize("path", ["/l/nothing", "/unsubscribe/nothing", "/v1/docs", "/problems/x"])
def test_an_open_path_is_limited_for_each_address(path: str) -> None:
    answers = [_ask(path) for _ in range(BURST + 5)]
    assert 429 not in [answer.status_code for answer in answers[:BURST]]
    assert [answer.status_code for answer in answers[BURST:]] == [429] * 5
    assert int(answers[-1]["Retry-After"]) >= 1
    assert _ask(path, "203.0.113.5").status_code != 429


def test_health_is_never_limited() -> None:
    assert {_ask("/healthz").status_code for _ in range(BURST * 3)} == {200}


def test_no_limit_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    _set(monkeypatch, open_requests_per_second=0)
    assert 429 not in {_ask("/l/nothing").status_code for _ in range(BURST * 3)}


def test_wrong_signatures_of_receipts_are_limited() -> None:
    headers = {"webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,x"}
    client = Client(REMOTE_ADDR=STRANGER)
    statuses = [
        client.post(
            "/v1/receipts/sandbox", b"{}", content_type="application/json", headers=headers
        ).status_code
        for _ in range(BURST + 3)
    ]
    assert statuses == [401] * BURST + [429] * 3


def test_one_network_of_ipv6_is_one_address() -> None:
    for number in range(BURST):
        assert _ask("/l/nothing", f"2001:db8:0:1::{number:x}").status_code == 404
    assert _ask("/l/nothing", "2001:db8:0:1::ffff").status_code == 429
    assert _ask("/l/nothing", "2001:db8:0:2::1").status_code == 404


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("198.51.100.7", "203.0.113.9", "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "1.2.3.4, 203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "10.0.0.2", "10.0.0.1"),
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
    ],
)
def test_a_forwarded_address_is_believed_from_our_proxies_alone(
    monkeypatch: pytest.MonkeyPatch, peer: str, forwarded: str, address: str
) -> None:
    _set(monkeypatch, trusted_proxies=(ip_network("10.0.0.0/8"),))
    environ = {"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_FOR": forwarded}
    assert clients.address_of(environ) == address


def test_an_address_that_is_none_is_counted_with_others_like_it() -> None:
    assert clients.rate_limit_key("unknown") == clients.rate_limit_key("'; DROP") == ""
    assert _ask("/healthz", "not-an-address").status_code == 200
