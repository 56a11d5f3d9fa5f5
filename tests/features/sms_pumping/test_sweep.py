"""The sweep raises alerts about refused SMS and learns the usual traffic."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from notifications.core import clock
from notifications.core.models import Alert, Producer
from notifications.core.store.redis import state
from notifications.features.sms_pumping import counts, policy, sweep, traffic_rows
from notifications.features.sms_pumping.counts import SmsRequest
from notifications.features.sms_pumping.models import SmsTraffic, SmsTrafficPosition
from notifications.features.sms_pumping.rules.ceilings import Policy

_HOUR = dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
def _nothing_counted(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks by name
    state.client().flushdb()
    policy.forget()
    yield
    policy.forget()


def _count(numbers: Iterator[str], *, country: str, producer_id: int) -> None:
    requests = []
    for place, number in enumerate(numbers):
        limits = Policy().of(number, country=country, producer_id=producer_id, now=clock.now())
        assert limits is not None
        member = f"{country}{place}".encode()
        requests.append(SmsRequest(member, number, country, producer_id, limits))
    counts.count(requests)


def _open() -> dict[tuple[str, str], str]:
    rows = Alert.objects.filter(resolved_at=None)
    return {(row.kind, row.subject): row.detail for row in rows}


def test_refusals_raise_alerts_that_end_after_two_intervals() -> None:
    shop = Producer.objects.create(name="shop").pk
    _count((f"+23480312{n:05}" for n in range(80)), country="NG", producer_id=shop)
    _count(("+4915112345678" for _ in range(12)), country="DE", producer_id=shop)
    now = clock.now()
    sweep.run_once(now=now, limit=12)
    found = _open()
    assert found.keys() == {("sms_pumping", "prefix NG"), ("sms_address_ceiling", "address DE")}
    assert found["sms_pumping", "prefix NG"] == (
        "30 P0 and P1 SMS were refused in the last 10 to 20 minutes; producers: shop (30);"
        " prefixes: +2348031 (30)"
    )
    assert "5678" not in found["sms_address_ceiling", "address DE"]
    sweep.run_once(now=now + dt.timedelta(minutes=20), limit=12)
    assert not _open()


def test_without_the_state_redis_alerts_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    _count(("+4915112345678" for _ in range(12)), country="DE", producer_id=1)
    sweep.run_once(now=clock.now(), limit=12)
    monkeypatch.setattr(state._circuit, "rests_until", clock.monotonic() + 60)
    sweep.run_once(now=clock.now() + _HOUR, limit=12)
    assert _open()


def test_a_finished_interval_is_learned_once() -> None:
    begins = clock.now().replace(minute=0, second=0, microsecond=0)
    hour = int(begins.timestamp()) // 3600
    redis = state.client()
    redis.hset(f"{counts.COUNTRIES}:{hour}", mapping={"DE": 30, "*": 32, "7:DE": 30, "7:*": 30})
    redis.hset(f"{counts.PREFIXES}:{hour * 6}", mapping={"4915112": 30, "4915113": 9})
    for _ in range(2):
        sweep.run_once(now=begins + _HOUR, limit=12)
    rows = SmsTraffic.objects.values_list("ceiling", "producer_id", "name", "peak", "total")
    assert set(rows) == {
        ("prefix", 0, "4915112", 30, 30),
        ("country", 0, "DE", 30, 30),
        ("country", 0, "*", 32, 32),
        ("country", 7, "DE", 30, 30),
        ("country", 7, "*", 30, 30),
    }
    assert SmsTrafficPosition.objects.get(pk="country").interval == hour


def test_an_interval_with_a_refusal_is_not_learned() -> None:
    begins = clock.now().replace(minute=0, second=0, microsecond=0)
    hour = int(begins.timestamp()) // 3600
    redis = state.client()
    redis.hset(f"{counts.COUNTRIES}:{hour}", mapping={"NG": 100, "DE": 50, "*": 150})
    redis.hset(f"{counts.PREFIXES}:{hour * 6 + 2}", mapping={"2348031": 50, "4915112": 20})
    redis.hset(f"{counts.REFUSALS}:{hour * 6 + 2}", mapping={"4||NG|7": 5, "3|2348031|NG|7": 9})
    sweep.run_once(now=begins + _HOUR, limit=12)
    found = set(SmsTraffic.objects.values_list("name", flat=True))
    assert found == {"DE", "*", "4915112"}


def test_the_usual_peak_is_the_second_highest_and_old_days_are_deleted() -> None:
    today = clock.now().date()
    SmsTraffic.objects.bulk_create(
        SmsTraffic(
            day=today - dt.timedelta(days=back),
            ceiling="prefix",
            name="4915112",
            peak=peak,
            total=9,
        )
        for back, peak in ((40, 900), (3, 700), (2, 40), (1, 30))
    )
    learned = traffic_rows.usual_traffic(today=today)
    assert learned.prefixes == {"4915112": 40}
    assert traffic_rows.forget_old(today=today) == 1
