"""One trace from the producer to the receipt, through real processes and a collector."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator

import pytest

from notifyproj.devstack.demo.environment import Service, until
from tests.otlp import OtlpCollector
from tests.scenarios.world import WORKERS, World

_ADDRESS = "traced@sandbox.example"
_NAMES = {"POST /v1/notifications", "send email", "receipt delivered"}


@pytest.fixture(scope="module")
def collector() -> Iterator[OtlpCollector]:
    with OtlpCollector() as made:
        yield made


@pytest.fixture
def traced(_world: World, collector: OtlpCollector) -> World:
    """The product, whose processes export to the collector."""
    _world.repair("web", *WORKERS, **collector.environ())
    return _world


def _send_otp(world: World, traceparent: str) -> None:
    key = json.loads((world.var / "demo_keys.json").read_text())["auth-service"]
    service = Service(world.url, {"Authorization": f"Bearer {key}", "traceparent": traceparent})
    service.notify(world.otp(world.person(email=_ADDRESS)))


def test_the_trace_of_the_producer_goes_on_to_the_receipt(
    traced: World, collector: OtlpCollector
) -> None:
    unsampled, sampled, producer = (secrets.token_hex(size) for size in (16, 16, 8))
    _send_otp(traced, f"00-{unsampled}-{producer}-00")
    _send_otp(traced, f"00-{sampled}-{producer}-01")
    until(lambda: set(collector.of(sampled)) >= _NAMES, what="the trace is complete")
    until(
        lambda: len(traced.rows("SELECT 1 AS one FROM delivery WHERE status IN (7, 8)")) >= 2,
        what="both are delivered",
    )
    spans = collector.of(sampled)
    accept, call = spans["POST /v1/notifications"], spans["send email"]
    assert accept.parent_id == producer
    assert accept.attributes["http.response.status_code"] == 202
    assert {call.parent_id, spans["receipt delivered"].parent_id} == {accept.span_id}
    assert call.attributes["messaging.system"] == "sandbox"
    assert call.attributes["notifications.outcome"] == "accepted"
    assert call.seconds > 0
    assert collector.of(unsampled) == {}
    assert _ADDRESS.encode() not in b"".join(collector.bodies)
    assert b"108108" not in b"".join(collector.bodies)  # the code of the OTP


def test_a_collector_that_hangs_holds_nothing_up(traced: World, collector: OtlpCollector) -> None:
    collector.hang()
    somebody = traced.person(email=_ADDRESS)
    sent = [*traced.send_mails(50, user_id=somebody), traced.send_otp(somebody)]
    until(collector.asked.is_set, what="a process waits for the collector")
    sent.append(traced.send_otp(somebody))
    traced.settled(sent)
    assert set(traced.shown(sent)) == {1}
    process = traced.processes["p0"]
    process.ask_to_stop()
    assert process.wait_for_end(20), "the worker ends although the collector hangs"
