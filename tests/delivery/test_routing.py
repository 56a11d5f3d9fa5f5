"""Several vendors for one channel: who is asked, in which order, and what each device gets."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock, conf
from notifications.core.delivery import batch, deliver, failover, routing
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Alert,
    Attempt,
    Contact,
    DeadLetter,
    Delivery,
    Event,
    ProviderRoute,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.cached import provider_overrides
from notifications.core.store.postgres import claims
from providers.contract import Channel, Result, Unanswered, Unavailable
from tests.journey import Accept, AddVendor, Reach, deliveries_of
from tests.providers.fakes import free_port

Outbox = Callable[[UUID], list[Any]]


def _calls(delivery_id: UUID) -> list[tuple[str, str]]:
    made = Attempt.objects.filter(delivery_id=delivery_id).order_by("number")
    return [(each.provider, each.outcome) for each in made]


def _status(delivery_id: UUID) -> Status:
    return Status(Delivery.objects.get(id=delivery_id).status)


@pytest.fixture
def spare(caller: Caller, add_vendor: AddVendor) -> None:
    """Email goes by the sandbox, and where that cannot, by `spare`."""
    assert caller.producer_id  # the database is ready
    add_vendor("spare")
    for rank, provider in enumerate(("sandbox", "spare")):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=provider, rank=rank)


def test_an_edited_route_acts_within_a_second_and_without_a_restart(
    reach: Reach, take: Accept, add_vendor: AddVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_vendor("spare")
    reach(email="maria@sandbox.example")
    now = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    before, after = (deliveries_of(take())[0] for _ in range(2))
    deliver.deliver([before.id])
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="spare")
    monkeypatch.setattr(clock, "monotonic", lambda: now + 1)
    deliver.deliver([after.id])
    assert _calls(before.id) == [("sandbox", "accepted")]
    assert _calls(after.id) == [("spare", "accepted")]


def test_the_routes_tell_the_chat_services(caller: Caller, add_vendor: AddVendor) -> None:
    assert caller.producer_id  # the database is ready
    assert routing.chat_schemes() is None  # the sandbox takes each
    add_vendor(
        "apprise-like",
        takes={Channel.CHAT: lambda address: address.startswith(("slack:", "ntfy"))},
    )
    add_vendor("whatsapp-like", address_kinds=frozenset({"whatsapp"}))
    for rank, provider in enumerate(("apprise-like", "whatsapp-like")):
        ProviderRoute.objects.create(channel=Channel.CHAT, provider=provider, rank=rank)
    provider_overrides.forget()
    assert routing.chat_schemes() == frozenset({"slack", "ntfy", "ntfys"})


@pytest.mark.parametrize("row", [{"is_enabled": False}, {"provider": "gone"}])
def test_a_row_that_cannot_be_used_leaves_the_channel_to_the_settings(
    reach: Reach, take: Accept, add_vendor: AddVendor, row: dict[str, Any]
) -> None:
    add_vendor("spare")
    ProviderRoute.objects.create(channel=Channel.EMAIL, **{"provider": "spare", **row})
    reach(email="maria@sandbox.example")
    [delivery] = deliveries_of(take())
    deliver.deliver([delivery.id])
    assert _calls(delivery.id) == [("sandbox", "accepted")]


@pytest.mark.usefixtures("spare")
@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("503x1", "unavailable"),
        ("429x1", "throttled"),
        ("401x1", "misconfigured"),
        ("421x1", "rejected"),
    ],
)
def test_what_one_provider_could_not_take_goes_to_the_next_at_once(
    reach: Reach,
    take: Accept,
    outbox: Outbox,
    django_capture_on_commit_callbacks: Callable[..., Any],
    word: str,
    outcome: str,
) -> None:
    reach(email=f"maria+{word}@sandbox.example")
    [row] = deliveries_of(take())
    with django_capture_on_commit_callbacks(execute=True):
        assert deliver.deliver([row.id]) == []
    assert _status(row.id) is Status.SENT
    assert _calls(row.id) == [("sandbox", outcome), ("spare", "accepted")]
    assert len(outbox(row.id)) == 1
    alerts = Alert.objects.filter(kind="provider_misconfigured", subject="sandbox email")
    assert alerts.exists() is (outcome == "misconfigured")


def test_a_provider_that_is_down_is_passed_by(
    reach: Reach, take: Accept, add_vendor: AddVendor
) -> None:
    add_vendor("down", url=f"http://127.0.0.1:{free_port()}")
    for rank, provider in enumerate(("down", "sandbox")):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=provider, rank=rank)
    reach(email="maria@sandbox.example")
    rows = [deliveries_of(take())[0] for _ in range(3)]
    assert deliver.deliver([row.id for row in rows]) == []
    for row in rows:
        assert _calls(row.id) == [("down", "unavailable"), ("sandbox", "accepted")]


@pytest.mark.usefixtures("spare")
@pytest.mark.parametrize(
    ("word", "outcome", "status"),
    [("crash", "unanswered", Status.RETRYING), ("400", "rejected", Status.FAILED)],
)
def test_what_may_have_been_sent_or_never_can_be_stays(
    reach: Reach, take: Accept, word: str, outcome: str, status: Status
) -> None:
    reach(email=f"maria+{word}@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    assert _status(row.id) is status
    assert _calls(row.id) == [("sandbox", outcome)]


@pytest.mark.usefixtures("spare")
def test_a_refusal_of_every_provider_is_final(reach: Reach, take: Accept) -> None:
    reach(email="maria+421@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    assert _status(row.id) is Status.FAILED
    assert _calls(row.id) == [("sandbox", "rejected"), ("spare", "rejected")]
    assert DeadLetter.objects.filter(delivery_id=row.id).exists()


@pytest.mark.parametrize("first", ["down", "sandbox"])
def test_a_refusal_is_not_final_while_a_provider_that_may_accept_is_away(
    reach: Reach, take: Accept, add_vendor: AddVendor, first: str
) -> None:
    add_vendor("down", url=f"http://127.0.0.1:{free_port()}")
    second = {"down": "sandbox", "sandbox": "down"}[first]
    for rank, provider in enumerate((first, second)):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=provider, rank=rank)
    reach(email="maria+421@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    assert _status(row.id) is Status.RETRYING
    assert [provider for provider, _ in _calls(row.id)] == [first, second]


@pytest.mark.usefixtures("spare")
@pytest.mark.parametrize(
    ("priority", "http_status", "goes_on"),
    [("P0", 500, True), ("P2", 500, False), ("P0", None, False)],
)
def test_an_error_that_may_have_sent_goes_on_only_when_it_is_urgent(
    reach: Reach, take: Accept, priority: str, http_status: int | None, *, goes_on: bool
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take(priority=priority))
    taken = batch.load(claims.claim([row.id], now=clock.now()))
    routing.choose_providers(taken)
    [claimed] = taken.deliveries
    unclear = Result(
        delivery_id=row.id,
        outcome=Unanswered(code="500"),
        latency=dt.timedelta(),
        http_status=http_status,
    )
    sandbox = routing.provider_named("sandbox")
    assert sandbox is not None
    left_to_settle = failover.fail_over([(claimed, unclear)], provider=sandbox, token=taken.token)
    assert (left_to_settle == []) is goes_on
    assert (claimed.providers[0] == "spare") is goes_on
    assert claimed.in_doubt is goes_on


@pytest.mark.usefixtures("spare")
def test_after_the_last_provider_the_retry_policy_begins_a_new_round(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria+503x3@sandbox.example")
    [row] = deliveries_of(take())
    [group] = deliver.deliver([row.id])
    assert group.delivery_ids == [row.id]
    assert _status(row.id) is Status.RETRYING
    Delivery.objects.filter(id=row.id).update(due_at=TransactionNow())
    deliver.deliver([row.id])
    assert _status(row.id) is Status.SENT
    assert [provider for provider, _ in _calls(row.id)] == ["sandbox", "spare"] * 2


@pytest.mark.usefixtures("spare")
def test_a_bad_account_at_every_provider_burns_nothing(
    reach: Reach, take: Accept, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    reach(email="maria+401@sandbox.example")
    [row] = deliveries_of(take())
    with django_capture_on_commit_callbacks(execute=True):
        deliver.deliver([row.id])
    held = Delivery.objects.get(id=row.id)
    assert (held.status, held.reason) == (Status.SCHEDULED, "provider_misconfigured")
    alerts = Alert.objects.filter(kind="provider_misconfigured")
    assert set(alerts.values_list("subject", flat=True)) == {"sandbox email", "spare email"}
    assert not DeadLetter.objects.exists()


@pytest.mark.usefixtures("spare")
@pytest.mark.parametrize(("priority", "goes_on"), [("P2", False), ("P0", True)])
def test_what_an_earlier_call_may_have_sent_goes_on_only_when_it_is_urgent(
    reach: Reach, take: Accept, priority: str, *, goes_on: bool
) -> None:
    reach(email="maria+503x1@sandbox.example")
    [row] = deliveries_of(take(priority=priority))
    Delivery.objects.filter(id=row.id).update(attempts=1)
    Attempt.objects.create(
        delivery_id=row.id,
        number=1,
        provider="sandbox",
        outcome="unanswered",
        started_at=clock.now(),
        latency_ms=1,
    )
    deliver.deliver([row.id])
    assert _status(row.id) is (Status.SENT if goes_on else Status.RETRYING)
    assert [provider for provider, _ in _calls(row.id)][1:] == (
        ["sandbox", "spare"] if goes_on else ["sandbox"]
    )


@pytest.mark.usefixtures("spare")
@pytest.mark.parametrize("seconds_left", [-1, 60])
def test_what_expired_during_a_call_goes_to_nobody_else(
    reach: Reach, take: Accept, seconds_left: int
) -> None:
    reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    taken = batch.load(claims.claim([row.id], now=clock.now()))
    routing.choose_providers(taken)
    [claimed] = taken.deliveries
    left = dt.timedelta(seconds=seconds_left)
    claimed.notification = claimed.notification._replace(expires_at=clock.now() + left)
    down = Result(delivery_id=row.id, outcome=Unavailable(), latency=dt.timedelta())
    sandbox = routing.provider_named("sandbox")
    assert sandbox is not None
    left_to_settle = failover.fail_over([(claimed, down)], provider=sandbox, token=taken.token)
    goes_on = seconds_left > 0
    assert (claimed.providers[0] == "spare") is goes_on
    assert (left_to_settle == []) is goes_on


def test_each_device_gets_it_once_from_the_provider_of_its_platform(
    reach: Reach, take: Accept, add_vendor: AddVendor, outbox: Outbox
) -> None:
    for platform in ("fcm", "apns"):
        add_vendor(platform, address_kinds=frozenset({f"{platform}_token"}))
        ProviderRoute.objects.create(channel=Channel.PUSH, provider=platform)
    reach(push=["phone-of-google", "tablet-of-apple", "watch-of-apple"])
    Contact.objects.filter(address__endswith="google").update(kind="fcm_token")
    Contact.objects.filter(address__endswith="apple").update(kind="apns_token")
    rows = deliveries_of(take(channels=["push"]))
    deliver.deliver([row.id for row in rows])
    got = {outbox(row.id)[0]["address"]: _calls(row.id) for row in rows}
    assert got == {
        "phone-of-google": [("fcm", "accepted")],
        "tablet-of-apple": [("apns", "accepted")],
        "watch-of-apple": [("apns", "accepted")],
    }
    assert [len(outbox(row.id)) for row in rows] == [1, 1, 1]


def test_an_address_that_nobody_takes_waits_with_an_alert(
    reach: Reach, take: Accept, add_vendor: AddVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_vendor("fcm", address_kinds=frozenset({"fcm_token"}))
    settings = replace(conf.current(), routes={Channel.PUSH: "fcm"})
    monkeypatch.setattr(conf, "current", lambda: settings)
    reach(push="a-browser")
    Contact.objects.update(kind="web_push")
    [row] = deliveries_of(take(channels=["push"]))
    deliver.deliver([row.id])
    held = Delivery.objects.get(id=row.id)
    assert (held.status, held.reason) == (Status.SCHEDULED, "no_provider")
    alert = Alert.objects.get()
    why = "No provider of push can send to such an address (kind web_push): asked fcm."
    assert (alert.kind, alert.detail) == ("no_provider", why)
    assert Event.objects.filter(delivery_id=row.id, detail=why).exists()


@pytest.mark.usefixtures("outbox")
def test_an_address_of_a_chat_goes_only_to_providers_that_can_send_to_it(
    caller: Caller, add_vendor: AddVendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert caller.producer_id
    add_vendor("meta", address_kinds=frozenset({"whatsapp"}))
    monkeypatch.setenv("NOTIFY_APPRISE_SCHEMES", "slack")
    monkeypatch.setenv("NOTIFY_TWILIO_ACCOUNT_SID", "AC" + "0" * 32)
    monkeypatch.setenv("NOTIFY_TWILIO_AUTH_TOKEN", "token")
    monkeypatch.setenv("NOTIFY_TWILIO_FROM", "+15005550006")
    monkeypatch.setenv("NOTIFY_TWILIO_WHATSAPP_FROM", "+15005550006")
    routing.forget()
    for rank, provider in enumerate(("meta", "twilio", "apprise", "sandbox")):
        ProviderRoute.objects.create(channel=Channel.CHAT, provider=provider, rank=rank)

    def providers(address: str) -> list[str]:
        return routing.providers_for(Channel.CHAT, Mode.LIVE, kind="", address=address)

    assert providers("whatsapp:+4915112345678") == ["meta", "twilio", "sandbox"]
    assert providers("slack://T/B/C") == ["apprise", "sandbox"]
    assert providers("tgram://token/chat") == ["sandbox"]


def test_numbers_go_by_their_region(reach: Reach, take: Accept, add_vendor: AddVendor) -> None:
    add_vendor("european")
    ProviderRoute.objects.create(channel=Channel.SMS, region="+49", provider="european")
    reach("hans", sms="+4915112345678")
    reach("maria", sms="+5511987654321")
    rows = [deliveries_of(take(channels=["sms"], user_id=user))[0] for user in ("hans", "maria")]
    deliver.deliver([row.id for row in rows])
    assert [_calls(row.id) for row in rows] == [
        [("european", "accepted")],
        [("sandbox", "accepted")],
    ]


def test_a_batch_is_shared_by_weight_and_each_message_leaves_once(
    reach: Reach, take: Accept, add_vendor: AddVendor, outbox: Outbox
) -> None:
    add_vendor("spare")
    for provider in ("sandbox", "spare"):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=provider)
    reach(email="maria@sandbox.example")
    rows = [deliveries_of(take())[0] for _ in range(40)]
    assert deliver.deliver([row.id for row in rows]) == []
    providers = Counter(_calls(row.id)[0][0] for row in rows)
    assert set(providers) == {"sandbox", "spare"}
    assert all(len(outbox(row.id)) == 1 for row in rows)
