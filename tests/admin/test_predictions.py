"""The recipient's page tells the truth about a message that comes now."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock, conf
from notifications.core.models import NotificationType, Preference, Recipient
from notifications.core.operations import switches
from notifications.core.rules.lane import Priority
from notifications.core.rules.rate_limits.circuit_breaker import HealthKey
from notifications.core.rules.rate_limits.frequency_caps import Cap
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.rate_limits import breaker_status, frequency_caps
from notifications.core.store.rate_limits.breaker_status import BreakerStatus
from notifications.core.store.rate_limits.frequency_caps import CapRequest, Window
from notifications.core.store.redis import state
from providers.contract import Channel


def prediction(door: Client, person: Recipient) -> str:
    page = reverse("admin:notifications_recipient_change", args=[person.pk])
    text = " ".join(door.get(page).content.decode().split())
    return text.partition('id="reached"')[2].partition("</section>")[0]


def count_one(person: Recipient) -> None:
    window = Window(person.pk, Channel.EMAIL)
    cap = Cap(1, dt.timedelta(days=1))
    frequency_caps.count([CapRequest(clock.new_notification_id(), window, cap, always=False)])


def test_a_full_cap_is_predicted(door: Client, maria: Recipient) -> None:
    with state.connection() as redis:
        redis.delete(Window(maria.pk, Channel.EMAIL).key)
    Preference.objects.create(recipient=maria, caps={"email": "1/day"})
    assert ">sent<" in prediction(door, maria)
    count_one(maria)
    assert "waits: the frequency cap of 1/day is full" in prediction(door, maria)


@pytest.mark.parametrize(("kind", "value"), [("provider", "sandbox"), ("channel", "email")])
def test_a_switch_is_predicted(door: Client, maria: Recipient, kind: str, value: str) -> None:
    target = switches.SwitchTarget(kind=SwitchKind(kind), value=value)
    switches.set_switch(target, reason="it sends twice", expires_at=None, by="lisa")
    assert re.search(r"waits: .*it sends twice", prediction(door, maria))


def test_a_provider_that_rests_is_predicted(
    door: Client, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with state.connection() as redis:
        redis.delete(Window(maria.pk, Channel.EMAIL).key)
    resting = BreakerStatus(since=clock.now(), why="unavailable in 9 of 9 calls")
    key = HealthKey("sandbox", Channel.EMAIL)
    monkeypatch.setattr(breaker_status, "of", lambda keys: dict.fromkeys([*keys, key], resting))
    text = prediction(door, maria)
    assert "waits: calls are paused at sandbox (unavailable in 9 of 9 calls)" in text


def test_a_switched_off_category_is_told(door: Client, maria: Recipient) -> None:
    NotificationType.objects.create(name="LIKE", priority=Priority.P2, category="social")
    Preference.objects.create(recipient=maria, categories_off=["social"])
    page = reverse("admin:notifications_recipient_change", args=[maria.pk])
    matrix = door.get(page).content.decode().partition('id="matrix"')[2].partition("</section>")[0]
    assert re.search(r"social</span>\s*</th>\s*<td[^>]*><strong>off</strong>", matrix)


def test_a_channel_without_a_provider_is_predicted(
    door: Client, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = replace(conf.current(), routes={})
    monkeypatch.setattr(conf, "current", lambda: configured)
    assert "waits: no configured provider" in prediction(door, maria)
