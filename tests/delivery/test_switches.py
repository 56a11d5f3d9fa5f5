"""What an operator's switch holds: claimed rows, every priority, without an attempt."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock
from notifications.core.delivery import deliver, in_flight
from notifications.core.models import (
    Attempt,
    Delivery,
    Event,
    Notification,
    Producer,
    ProviderRoute,
    Switch,
    Template,
)
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.cached import switches as cached
from providers.contract import Channel, Provider
from tests.journey import Accept, AddVendor, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]
HOUR: Final = dt.timedelta(hours=1)
SECOND: Final = dt.timedelta(seconds=1)
PAUSED: Final = (Status.SCHEDULED, "paused")
CHANNEL_PAUSED: Final = (Status.SCHEDULED, "channel_paused")
SENT: Final = (Status.SENT, "")

pytestmark = pytest.mark.usefixtures("outbox")


@pytest.fixture(autouse=True)
def _fresh(reach: Reach) -> Iterator[None]:
    reach(email="maria@sandbox.example", push="maria-phone")
    cached.forget()
    yield
    cached.forget()


def _set(kind: SwitchKind, value: str, **more: object) -> Switch:
    target = SwitchTarget(kind=kind, value=value, channel=more.pop("channel", None))  # type: ignore[arg-type]  # a channel
    given: dict[str, Any] = {"reason": "wrong text", "expires_at": None, "by": "maria", **more}
    return switches.set_switch(target, **given)


def _status(row: Delivery) -> tuple[Status, str]:
    row.refresh_from_db()
    return Status(row.status), row.reason


def _deliver(*rows: Delivery) -> list[tuple[Status, str]]:
    deliver.deliver([row.id for row in rows])
    return [_status(row) for row in rows]


@pytest.mark.parametrize(
    ("kind", "value", "held"),
    [
        (SwitchKind.PRODUCER, "tests", PAUSED),
        (SwitchKind.TYPE, "LIKE", PAUSED),
        (SwitchKind.TEMPLATE, "otp", PAUSED),
        (SwitchKind.CHANNEL, "email", CHANNEL_PAUSED),
        (SwitchKind.LANE, "p0.email", CHANNEL_PAUSED),
        (SwitchKind.PROVIDER, "sandbox", CHANNEL_PAUSED),
    ],
)
def test_each_kind_holds_a_p0_without_an_attempt(
    kind: SwitchKind, value: str, held: tuple[Status, str], take: Accept, outbox: Outbox
) -> None:
    row = _set(kind, value)
    [delivery] = deliveries_of(take(priority="P0"))
    assert _deliver(delivery) == [held]
    assert delivery.switch_id == row.pk
    assert not outbox(delivery.id)
    assert not Attempt.objects.filter(delivery_id=delivery.id).exists()
    event = Event.objects.filter(delivery_id=delivery.id, reason=held[1]).get()
    assert event.detail == f"switch {row.pk}, {kind} {value}: wrong text"
    # Due at the end of the time to live: nobody looks at the row till then.
    assert delivery.due_at is not None
    end = Notification.objects.get(id=delivery.notification_id).expires_at
    assert abs(delivery.due_at - end) < SECOND


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SwitchKind.PRODUCER, "others"),
        (SwitchKind.TYPE, "OTHER"),
        (SwitchKind.TEMPLATE, "other"),
        (SwitchKind.CHANNEL, "sms"),
        (SwitchKind.LANE, "p3.email"),
        (SwitchKind.LANE, "test.p2.email"),
    ],
)
def test_a_switch_of_something_else_holds_nothing(
    kind: SwitchKind, value: str, take: Accept
) -> None:
    Producer.objects.create(name="others")
    Template.objects.create(template_id="other")
    _set(kind, value)
    assert _deliver(*deliveries_of(take())) == [SENT]


def test_test_mode_is_held_by_a_switch_of_its_lane_only(take: Accept) -> None:
    [row], [other] = deliveries_of(take()), deliveries_of(take())
    for each in (row, other):
        Delivery.objects.filter(id=each.id).update(mode=Mode.TEST)
    _set(SwitchKind.TYPE, "LIKE")
    _set(SwitchKind.PROVIDER, "sandbox")
    assert _deliver(row) == [SENT]
    _set(SwitchKind.LANE, "test.p2.email")
    assert _deliver(other) == [CHANNEL_PAUSED]


def test_an_expired_or_resumed_switch_holds_nothing(take: Accept) -> None:
    row = _set(SwitchKind.TYPE, "LIKE", expires_at=clock.now() + HOUR)
    Switch.objects.filter(pk=row.pk).update(expires_at=TransactionNow() - SECOND)
    cached.forget()
    assert _deliver(*deliveries_of(take())) == [SENT]
    _set(SwitchKind.TYPE, "LIKE")
    switches.resume(switches.active(), by="maria")
    assert _deliver(*deliveries_of(take())) == [SENT]


def test_the_end_of_the_pause_is_the_due_time_and_the_longest_pause_counts(take: Accept) -> None:
    end = clock.now() + HOUR
    _set(SwitchKind.TYPE, "LIKE", expires_at=end - HOUR / 2)
    longest = _set(SwitchKind.PRODUCER, "tests", expires_at=end)
    [row] = deliveries_of(take(priority="P1", ttl_seconds=7200))
    assert _deliver(row) == [PAUSED]
    assert row.switch_id == longest.pk
    assert row.due_at is not None
    assert abs(row.due_at - end) < SECOND


def test_the_time_to_live_goes_on_and_its_end_names_the_pause(take: Accept) -> None:
    _set(SwitchKind.TYPE, "LIKE")
    [row] = deliveries_of(take())
    _deliver(row)
    Notification.objects.update(expires_at=TransactionNow() - SECOND)
    Delivery.objects.filter(id=row.id).update(due_at=TransactionNow() - SECOND)
    assert _deliver(row) == [(Status.EXPIRED, "ttl_passed_while_paused")]


def test_a_held_provider_passes_deliveries_to_the_next(
    take: Accept, add_vendor: AddVendor, outbox: Outbox
) -> None:
    add_vendor("second")
    for rank, name in enumerate(("sandbox", "second")):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=name, rank=rank)
    _set(SwitchKind.PROVIDER, "sandbox", channel=Channel.EMAIL)
    [mail], [push] = deliveries_of(take()), deliveries_of(take(channels=["push"]))
    assert _deliver(mail) == [SENT]
    assert mail.provider == "second"
    assert _deliver(push) == [SENT]
    _set(SwitchKind.PROVIDER, "second")
    [mail] = deliveries_of(take())
    assert _deliver(mail) == [CHANNEL_PAUSED]
    assert len(outbox(mail.id)) == 0


@pytest.mark.parametrize("priority", ["P1", "P2"])
def test_in_a_chain_an_urgent_message_goes_on_when_its_channel_is_held(
    take: Accept, priority: str
) -> None:
    _set(SwitchKind.CHANNEL, "push")
    told = take(channels=["push", "email"], fallback_chain=True, priority=priority)
    _deliver(*deliveries_of(told))
    assert Delivery.objects.filter(channel=Channel.EMAIL).exists() is (priority == "P1")


def test_a_chain_waits_when_its_producer_is_held(take: Accept) -> None:
    _set(SwitchKind.PRODUCER, "tests")
    told = take(channels=["push", "email"], fallback_chain=True, priority="P1")
    [push] = deliveries_of(told)
    assert _deliver(push) == [PAUSED]
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize("kind", [SwitchKind.TYPE, SwitchKind.PROVIDER])
def test_a_switch_set_after_the_claim_holds_the_next_wave(
    kind: SwitchKind, take: Accept, monkeypatch: pytest.MonkeyPatch, outbox: Outbox
) -> None:
    rows = [deliveries_of(take())[0] for _ in range(6)]
    value = "LIKE" if kind is SwitchKind.TYPE else "sandbox"
    real = in_flight.acquire
    waves: list[int] = []

    def acquire(provider: Provider, wanted: int, **terms: Any) -> int:  # noqa: ANN401 - the real ones
        """Two calls in a wave; the switch is set while the second wave waits for permits."""
        if len(waves) == 1:
            _set(kind, value)
        waves.append(granted := real(provider, min(wanted, 2), **terms))
        return granted

    monkeypatch.setattr(in_flight, "acquire", acquire)
    found = _deliver(*rows)
    held = PAUSED if kind is SwitchKind.TYPE else CHANNEL_PAUSED
    assert found == [SENT] * 2 + [held] * 4
    assert sum(bool(outbox(row.id)) for row in rows) == 2
    assert [row.attempts for row in rows] == [1] * 2 + [0] * 4


def test_a_new_version_of_a_held_template_is_held(take: Accept) -> None:
    _set(SwitchKind.TEMPLATE, "otp")
    [row] = deliveries_of(take())
    newer = Template.objects.create(template_id="otp", version=2)
    Notification.objects.filter(id=row.notification_id).update(template=newer.pk)
    cached.forget()
    assert _deliver(row) == [PAUSED]
