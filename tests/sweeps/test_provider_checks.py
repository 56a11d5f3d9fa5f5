"""A paused provider without traffic is checked, and its breaker closes without a message."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import Alert, BreakerEvent
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import (
    BreakerOverride,
    CallStats,
    HealthKey,
)
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.redis import state
from notifications.core.sweeps import breakers, provider_checks
from providers.contract import Channel, Finding
from providers.dry_run import DryRun
from tests.providers.fakes import SmtpFake

MAIL = HealthKey("smtp", Channel.EMAIL)
FAULT = CallStats(
    fault="the provider answers 535, our credentials or account are refused", faults=1, calls=1
)
SUBJECT = "smtp email"
"""The subject of an alert about the account."""
LATER = dt.timedelta(minutes=2)


class CheckedProvider(DryRun):
    """Its check yields the given findings."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__()
        self.findings = findings
        self.checks = 0

    def check(self, *, deadline: dt.timedelta) -> Iterator[Finding]:
        assert deadline
        self.checks += 1
        return iter(self.findings)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    circuit_breakers.forget()
    provider_overrides.forget()


def paused(
    monkeypatch: pytest.MonkeyPatch, *findings: Finding, tally: CallStats = FAULT
) -> CheckedProvider:
    provider = CheckedProvider(*findings)
    monkeypatch.setattr(routing, "providers_by_name", lambda: {"smtp": provider})
    circuit_breakers.record_calls({MAIL: tally})
    assert is_open()
    return provider


def is_open() -> bool:
    return breaker_status.of([MAIL])[MAIL].is_open


def sweep(*, after: dt.timedelta = LATER) -> int:
    return provider_checks.run_once(now=clock.now() + after, limit=10).moved


GOOD = Finding(subject="credentials", is_good=True, detail="accepted")
REACHED = Finding(subject="reachability", is_good=True, detail="HTTP 200")
BAD = Finding(subject="credentials", is_good=False, detail="535")


def test_a_good_check_closes_the_breaker_and_ends_its_alerts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = paused(monkeypatch, GOOD, REACHED)
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, SUBJECT, "it refused our credentials")
    assert sweep() == 1
    assert provider.checks == 1
    assert not is_open()
    assert not Alert.objects.filter(resolved_at=None).exists()
    assert sweep() == 0
    assert provider.checks == 1


def test_a_bad_check_keeps_the_breaker_open_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = paused(monkeypatch, GOOD, BAD)
    assert sweep() == 0
    assert sweep() == 0, "the next check waits"
    assert provider.checks == 1
    assert is_open()
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, SUBJECT, "it refused our credentials")
    breakers.run_once(now=clock.now() + dt.timedelta(hours=1), limit=10)
    kinds = Alert.objects.filter(resolved_at=None).values_list("kind", flat=True)
    assert set(kinds) == {"breaker_open", "provider_misconfigured"}, "a quiet night ends no alert"


def test_traffic_leaves_the_probe_to_a_delivery(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = paused(monkeypatch, GOOD)
    assert sweep(after=dt.timedelta()) == 0
    circuit_breakers.record_probe(MAIL)
    assert sweep(after=dt.timedelta(seconds=50)) == 0
    assert provider.checks == 0
    assert BreakerEvent.objects.filter(kind="probed").exists()


@pytest.mark.parametrize("findings", [[], [REACHED]])
def test_a_refused_account_needs_more_than_an_answer(
    monkeypatch: pytest.MonkeyPatch, findings: list[Finding]
) -> None:
    paused(monkeypatch, *findings)
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, SUBJECT, "it refused our credentials")
    assert sweep() == 0
    assert is_open()
    detail = Alert.objects.get(kind="breaker_open").detail
    assert detail.endswith("the breaker waits for the next message")


def test_a_refused_account_of_another_channel_keeps_no_breaker_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paused(monkeypatch, REACHED)
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, "smtp push", "it refused our credentials")
    assert sweep() == 1
    open_ones = Alert.objects.filter(resolved_at=None)
    assert set(open_ones.values_list("subject", flat=True)) == {"smtp push"}


def test_a_wave_of_refusals_waits_for_an_accepted_message(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = CallStats(calls=30, rejected=30)
    provider = paused(monkeypatch, GOOD, tally=refusals)
    assert sweep() == 0
    assert provider.checks == 0
    assert is_open()


def test_a_forced_breaker_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = paused(monkeypatch, GOOD)
    circuit_breakers.force(MAIL.pair, BreakerOverride.CLOSED, by="maria")
    assert sweep() == 0
    assert provider.checks == 0


def test_a_mail_server_that_is_back_is_found_without_a_mail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = SmtpFake()
    monkeypatch.setenv("NOTIFY_SMTP_URL", f"smtp://127.0.0.1:{server.port}")
    monkeypatch.setenv("NOTIFY_SMTP_FROM", "notify@shop.example")
    routing.forget()
    try:
        server.stop()
        down = CallStats(calls=200, unavailable=200, last_failures=200)
        circuit_breakers.record_calls({MAIL: down})
        assert is_open()
        assert sweep() == 0
        assert is_open()
        server.start()
        state.client().delete(f"provider_check:{circuit_breakers.key(MAIL)}")
        assert sweep() == 1
        assert not is_open()
        assert not server.contents
        assert not server.senders
    finally:
        server.close()
        monkeypatch.undo()
        routing.forget()
