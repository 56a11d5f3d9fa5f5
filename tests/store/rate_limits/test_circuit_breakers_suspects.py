"""Answers that mean a dead address or a wrong setting: the next accepted call decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from notifications.core import clock
from notifications.core.rules.rate_limits.circuit_breaker import (
    BreakerReport,
    CallStats,
    HealthKey,
    Suspect,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from tests.store.ageing import age
from tests.store.telling import PROBE_WELL, PUSH, SECOND, refused, well
from tests.store.telling import report as report_if_due


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    for each in (circuit_breakers, provider_overrides):
        each.forget()
    yield
    for each in (circuit_breakers, provider_overrides):
        each.forget()


def suspects(*contacts: int) -> CallStats:
    found = tuple(Suspect(each, "BadDeviceToken", 1_796_000_000_000) for each in contacts)
    return replace(refused(len(contacts)), suspects=found)


def report(key: HealthKey, tally: CallStats) -> BreakerReport:
    verdict = report_if_due(key, tally)
    assert verdict is not None
    return verdict


def test_suspects_are_confirmed_by_the_next_accepted_call_and_once() -> None:
    report(PUSH, suspects(1))
    report(PUSH, suspects(2))
    assert report(PUSH, well()).confirmed == suspects(1, 2).suspects
    circuit_breakers.forget()
    assert report(PUSH, well()).confirmed == ()


def test_three_suspects_without_an_accepted_call_are_a_wave_and_none_is_confirmed() -> None:
    for contact in (1, 1, 2, 1, 2):
        verdict = report(PUSH, suspects(contact))
        assert (verdict.is_open, verdict.believed) == (False, 1)
    verdict = report(PUSH, suspects(3))
    assert (verdict.is_open, verdict.believed) == (True, 0)
    assert verdict.why.startswith("3 addresses in a row refused with BadDeviceToken")
    verdict = report(PUSH, PROBE_WELL)
    assert (verdict.is_open, verdict.confirmed) == (False, ())


def test_three_suspects_soon_after_an_accepted_call_are_no_wave_and_ten_are() -> None:
    report(PUSH, well())
    assert not report(PUSH, suspects(1, 2, 3)).is_open
    assert not report(PUSH, suspects(4, 5, 6, 7, 8, 9)).is_open
    assert report(PUSH, suspects(10)).is_open
    assert report(PUSH, PROBE_WELL).confirmed == ()


def test_suspects_and_dead_addresses_are_counted_together() -> None:
    report(PUSH, well())
    assert not report(PUSH, suspects(1, 2, 3)).is_open
    assert not report(PUSH, refused(6, dead=6)).is_open
    verdict = report(PUSH, suspects(4))
    assert verdict.why == "10 addresses in a row called dead"


def test_one_suspect_that_is_called_again_and_again_is_one() -> None:
    for _ in range(15):
        assert not report(PUSH, suspects(1)).is_open


def test_three_suspects_are_a_wave_a_while_after_an_accepted_call() -> None:
    report(PUSH, well())
    report(PUSH, suspects(1, 2))
    age(6 * SECOND)
    assert report(PUSH, suspects(3)).is_open


def test_accepted_calls_between_suspects_keep_the_breaker_closed() -> None:
    for contact in range(9):
        assert not report(PUSH, suspects(contact)).is_open
        assert report(PUSH, well()).confirmed == suspects(contact).suspects


@pytest.mark.parametrize(("seconds", "confirmed"), [(60, ()), (0.5, suspects(1).suspects)])
def test_an_accepted_call_that_waits_for_its_report_confirms_only_while_it_is_fresh(
    monkeypatch: pytest.MonkeyPatch, seconds: float, confirmed: tuple[Suspect, ...]
) -> None:
    now = 1_000.0
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    other_process = circuit_breakers._Unreported()
    monkeypatch.setattr(circuit_breakers, "_unreported", other_process)
    report(PUSH, suspects(1))
    this_process = circuit_breakers._Unreported()
    monkeypatch.setattr(circuit_breakers, "_unreported", this_process)
    this_process.reported_at[PUSH] = now
    assert report_if_due(PUSH, well()) is None
    now += seconds
    assert report(PUSH, suspects(2)).confirmed == confirmed


def test_suspects_are_forgotten_after_an_hour_without_a_call() -> None:
    report(PUSH, suspects(1))
    seconds = state.client().ttl(circuit_breakers.key(PUSH))
    assert 3_500 < seconds <= 3_600
