"""A notice to Telegram has each word of the alert."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import orjson
import pytest

from notifications.core import clock
from notifications.core.alerting import notices
from notifications.core.models import Alert
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts
from tests.alerting.conftest import MakeDestination
from tests.providers.fakes import HttpFake

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_telegram_group_gets_each_word_of_an_alert(
    make_fake: Callable[[], HttpFake],
    make_destination: MakeDestination,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = make_fake()
    own = f"https://api.telegram.org={fake.url.removesuffix('/hook')}"
    monkeypatch.setenv("NOTIFY_APPRISE_ENDPOINTS", own)
    monkeypatch.setenv("NOTIFY_APPRISE_SCHEMES", "tgram")
    make_destination("tgram://123456789:abcdefghijklmnopqrstuvwxyz123456789/-1001234567")
    alerts.raise_once(AlertKind.NO_PROVIDER, "email", "<html><h1>502 & gone</h1>")
    past = clock.now() - dt.timedelta(minutes=2)
    Alert.objects.update(raised_at=past)
    assert notices.work_off(now=clock.now(), limit=100) == 1
    [request] = fake.requests
    text = orjson.loads(request.body)["text"]
    assert "&lt;html&gt;&lt;h1&gt;502 &amp; gone&lt;/h1&gt;\n" in text
