"""Which providers rest can be seen, and an operator's word is final."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from notifications.delivery import routing
from notifications.models import ProviderPace
from notifications.rules.alerts import BEAT, AlertKind
from notifications.rules.rate_limits.circuit_breaker import BreakerOverride, CallStats, HealthKey
from notifications.store.cached import provider_overrides
from notifications.store.postgres import alerts
from notifications.store.rate_limits import breaker_status, circuit_breakers
from notifications.store.redis import state
from providers.contract import Channel, Pace
from providers.dry_run import DryRun

BOARD = reverse("admin:notifications_breaker_changelist")
PUSH = HealthKey("sandbox", Channel.PUSH)


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    circuit_breakers.forget()
    provider_overrides.forget()
    yield
    provider_overrides.forget()


def _force(client: Client, forced: str, *, provider: str = "sandbox", channel: str = "push") -> int:
    fields = {"provider": provider, "channel": channel, "forced": forced}
    return client.post(BOARD, fields).status_code


def test_the_board_says_which_rest_and_why(door: Client) -> None:
    circuit_breakers.record_calls({PUSH: CallStats(unavailable=10, last_failures=10, calls=10)})
    page = door.get(BOARD)
    found = {(line.provider, line.channel): line.state for line in page.context["lines"]}
    assert found[PUSH.pair] == "open"
    assert found["sandbox", Channel.SMS] == "closed"
    assert "10 failures in a row" in page.content.decode()


def test_of_many_resting_endpoints_the_board_counts_all_and_shows_some(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = DryRun()
    able = replace(hooks.capabilities, endpoint_of=str, channels=frozenset({Channel.WEBHOOK}))
    monkeypatch.setattr(DryRun, "capabilities", able)
    monkeypatch.setattr(routing, "providers_by_name", lambda: {"hooks": hooks})
    fault = CallStats(fault="it refuses us: 401", faults=1, calls=1)
    names = [f"https://{number}.example:443" for number in range(150)]
    circuit_breakers.record_calls({
        HealthKey("hooks", Channel.WEBHOOK, name): fault for name in names
    })
    page = door.get(BOARD).content.decode()
    assert "150 in all" in page
    assert page.count(".example:443") == 20


def test_an_alert_says_what_its_kind_means(door: Client) -> None:
    alerts.raise_once(AlertKind.NO_PROVIDER, "email", "nobody takes it")
    alerts.raise_once(AlertKind.BEAT_DEAD, BEAT, "it was dead")
    page = door.get(reverse("admin:notifications_alert_changelist")).content.decode()
    assert "check the routes" in page


def test_an_operator_opens_closes_and_lets_go(door: Client) -> None:
    for forced in (BreakerOverride.OPEN, BreakerOverride.CLOSED, BreakerOverride.AUTO):
        assert _force(door, forced.value) == 302
        assert breaker_status.of([PUSH])[PUSH].forced is forced
    events = door.get(reverse("admin:notifications_breakerevent_changelist"))
    assert events.content.decode().count("by operator") == 3


def test_who_may_only_look_forces_nothing(window: Client) -> None:
    assert window.get(BOARD).status_code == 200
    assert "Force open" not in window.get(BOARD).content.decode()
    assert _force(window, "open") == 403
    assert breaker_status.of([PUSH])[PUSH].forced is BreakerOverride.AUTO


@pytest.mark.parametrize(
    "wrong", [{"provider": "nobody"}, {"channel": "smoke"}, {"forced": "ajar"}], ids=str
)
def test_nonsense_is_refused(door: Client, wrong: dict[str, str]) -> None:
    assert _force(door, **({"forced": "open"} | wrong)) == 400


def test_a_pace_is_set_and_taken_back(door: Client) -> None:
    add = reverse("admin:notifications_providerpace_add")
    answer = door.post(add, {"provider": "sandbox", "burst": 5, "per_second": "0"})
    assert answer.status_code == 200  # shown again: nothing a second would hold all for ever
    door.post(add, {"provider": "sandbox", "burst": 5, "per_second": "2.5"})
    provider_overrides.forget()
    assert provider_overrides.current().paces == {"sandbox": Pace(burst=5, per_second=2.5)}
    ProviderPace.objects.all().delete()
    provider_overrides.forget()
    assert provider_overrides.current().paces == {}
