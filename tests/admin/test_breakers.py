"""Which providers are paused can be seen, and an operator's word is final."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.delivery import provider_health, routing
from notifications.core.models import Alert, BreakerEvent, ProviderPace
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.rate_limits.circuit_breaker import (
    BreakerOverride,
    CallStats,
    HealthKey,
)
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import alerts
from notifications.core.store.rate_limits import breaker_status, circuit_breakers
from notifications.core.store.redis import state
from providers.contract import Channel, Misconfigured, Pace
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


def _override(*names: str) -> str:
    return reverse("admin:notifications_breaker_override", args=names)


def test_the_board_says_which_rest_and_why(door: Client) -> None:
    circuit_breakers.record_calls({PUSH: CallStats(unavailable=10, last_failures=10, calls=10)})
    page = door.get(BOARD)
    found = {(line.provider, line.channel): line.state for line in page.context["lines"]}
    assert found[PUSH.pair] == "paused"
    assert found["sandbox", Channel.SMS] == "working"
    assert "10 failures in a row" in page.content.decode()


def test_a_refused_account_counts_as_a_failed_call(door: Client) -> None:
    fault = Misconfigured(code="401")
    stats = CallStats(fault=provider_health.fault_of(fault), faults=1, calls=1)
    circuit_breakers.record_calls({PUSH: stats})
    page = door.get(BOARD)
    [line] = [each for each in page.context["lines"] if each.standing.why]
    assert (line.standing.calls, line.standing.failures) == (1, 1)
    assert (
        "the provider answers 401, our credentials or account are refused" in page.content.decode()
    )


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
    alert = Alert.objects.get()
    page = door.get(reverse("admin:notifications_alert_change", args=[alert.pk])).content.decode()
    assert "nobody takes it" in page
    assert "check the routes" in page


def test_an_operator_sends_despite_failures_and_lets_calls_decide(door: Client) -> None:
    for name, forced in (("closed", BreakerOverride.CLOSED), ("auto", BreakerOverride.AUTO)):
        before = breaker_status.of([PUSH])[PUSH].forced
        assert "?" in door.get(_override("sandbox", "push", name)).context["title"]
        assert breaker_status.of([PUSH])[PUSH].forced is before  # a question changes nothing
        assert door.post(_override("sandbox", "push", name)).status_code == 302
        assert breaker_status.of([PUSH])[PUSH].forced is forced
    events = door.get(reverse("admin:notifications_breakerevent_changelist"))
    assert events.content.decode().count("by operator") == 2


def test_the_board_leads_to_a_hold_and_shows_the_hold(door: Client) -> None:
    page = door.get(BOARD)
    [line] = [each for each in page.context["lines"] if (each.provider, each.channel) == PUSH.pair]
    assert "Pause push by sandbox" in page.content.decode()
    form = door.get(line.hold_url).context["form"]
    assert (form["kind"].value(), form["value"].value()) == ("provider", "sandbox")
    assert (form["channel"].value(), form["minutes"].value()) == (str(Channel.PUSH.value), "30")
    target = SwitchTarget(kind=SwitchKind.PROVIDER, value="sandbox", channel=Channel.PUSH)
    switches.set_switch(target, reason="it sends twice", expires_at=None, by="maria")
    page = door.get(BOARD)
    found = {(each.provider, each.channel): each.state for each in page.context["lines"]}
    assert (found[PUSH.pair], found["sandbox", Channel.SMS]) == ("paused by an operator", "working")
    assert "it sends twice" in page.content.decode()
    assert "Resume" in page.content.decode()


def test_who_may_only_look_changes_nothing(window: Client) -> None:
    page = window.get(BOARD)
    assert page.status_code == 200
    assert "Pause push" not in page.content.decode()
    assert "Ignore failures" not in page.content.decode()
    for method in (window.get, window.post):
        assert method(_override("sandbox", "push", "closed")).status_code == 403
    assert breaker_status.of([PUSH])[PUSH].forced is BreakerOverride.AUTO


@pytest.mark.parametrize(
    "wrong",
    [("nobody", "push", "closed"), ("sandbox", "smoke", "closed"), ("sandbox", "push", "ajar")],
    ids=str,
)
def test_nonsense_is_refused(door: Client, wrong: tuple[str, ...]) -> None:
    assert door.post(_override(*wrong)).status_code == 400


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


def test_the_board_loads_again_and_lists_changes_without_probes(door: Client) -> None:
    kinds = BreakerEvent.Kind
    facts = {"provider": "sandbox", "channel": Channel.SMS, "at": clock.now()}
    BreakerEvent.objects.create(kind=kinds.TRIPPED, detail="it refuses us: 401", **facts)
    BreakerEvent.objects.bulk_create(
        BreakerEvent(kind=kinds.PROBED, detail="", **facts) for _ in range(30)
    )
    page = door.get(BOARD)
    assert [event.kind for event in page.context["events"]] == [kinds.TRIPPED]
    assert 'data-refresh="5"' in page.content.decode()
