"""The page of providers: what is configured, how to configure, are the credentials good, a test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import AuditEntry, ProviderConnection
from notifications.core.store.redis import last_receipts, state
from providers import registry
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    Message,
    Repeat,
    Result,
)
from providers.vendor import OneWay

pytestmark = pytest.mark.django_db
PAGE = reverse("admin:notifications_providers")


class _Mail(OneWay):
    """A provider with credentials to ask for, which remembers what it sent."""

    name = "smtp"
    capabilities = Capabilities(
        channels=frozenset({Channel.EMAIL}), repeat=Repeat.VISIBLE, gives_receipts=False
    )

    def __init__(self) -> None:
        self.sent: list[Message] = []

    def check(self, *, deadline: timedelta) -> Iterator[Finding]:
        del deadline
        yield Finding(subject="credentials", is_good=False, detail="535: sign-in refused")

    def send(self, batch: Sequence[Message], *, deadline: timedelta) -> Iterator[Result]:
        self.sent += batch
        for message in batch:
            outcome = Accepted(message_id="m-1")
            yield Result(delivery_id=message.delivery_id, outcome=outcome, latency=deadline)


@pytest.fixture
def mail(monkeypatch: pytest.MonkeyPatch) -> _Mail:
    it = _Mail()
    monkeypatch.setattr(routing, "providers_by_name", lambda: {"smtp": it})
    return it


def test_every_provider_is_there_with_what_it_needs(door: Client) -> None:
    page = door.get(PAGE)
    lines = {line.name: line for line in page.context["lines"]}
    assert set(lines) == {*(vendor.name for vendor in registry.VENDORS), "inbox"}
    assert lines["sandbox"].is_configured
    assert "push" in lines["sandbox"].routed
    assert not lines["twilio"].is_configured
    assert set(lines["twilio"].required) == {
        "NOTIFY_TWILIO_ACCOUNT_SID",
        "NOTIFY_TWILIO_AUTH_TOKEN",
        "NOTIFY_TWILIO_FROM",
    }
    assert "NOTIFY_TWILIO_AUTH_TOKEN" in page.content.decode()


def test_the_guide_is_one_click_away(door: Client) -> None:
    guide = reverse("admin:notifications_providers_guide")
    assert guide in door.get(PAGE).content.decode()
    assert "NOTIFY_ROUTES" in door.get(guide).content.decode()


def test_credentials_are_asked_for_and_the_answer_is_shown(door: Client, mail: _Mail) -> None:
    page = door.post(PAGE, {"provider": "smtp"}).content.decode()
    assert "credentials: bad. 535: sign-in refused" in page
    assert mail.sent == []


def test_a_test_is_sent_once_to_the_address_given(door: Client, mail: _Mail) -> None:
    fields = {"provider": "smtp", "channel": "email", "address": "me@example.com"}
    page = door.post(PAGE, fields, follow=True).content.decode()
    assert "Accepted by smtp" in page
    assert [(each.channel, each.address) for each in mail.sent] == [
        (Channel.EMAIL, "me@example.com")
    ]


def test_checks_and_tests_are_in_the_audit_log_and_on_the_page(door: Client, mail: _Mail) -> None:
    fields = {"provider": "smtp", "channel": "email", "address": "somebody@example.com"}
    door.post(PAGE, {"provider": "smtp"})
    door.post(PAGE, fields)
    sent, checked = AuditEntry.objects.order_by("-pk")[:2]
    assert (checked.by, checked.operation) == ("operator", "check_provider")
    assert checked.after == {"findings": {"credentials": "bad"}}
    assert (sent.operation, sent.object_type, sent.object_name) == (
        *("send_provider_test", "provider", "smtp"),
    )
    assert sent.after == {"address": "so…@…om", "channel": "email"}
    assert len(sent.request_id) == 32
    assert len(mail.sent) == 1
    page = door.get(PAGE).content.decode()
    assert reverse("admin:notifications_auditentry_change", args=[sent.pk]) in page


def test_a_refused_test_is_in_no_entry(door: Client, mail: _Mail) -> None:
    door.post(PAGE, {"provider": "smtp", "channel": "email", "address": ""})
    assert not AuditEntry.objects.exists()
    assert mail.sent == []


def test_a_test_without_an_address_is_refused(door: Client, mail: _Mail) -> None:
    page = door.post(PAGE, {"provider": "smtp", "channel": "email", "address": ""}, follow=True)
    assert "give an address" in page.content.decode()
    assert mail.sent == []


def test_who_may_only_look_has_no_buttons(window: Client, mail: _Mail) -> None:
    page = window.get(PAGE).content.decode()
    assert "Send a test" not in page
    assert "Check credentials" not in page
    fields = {"provider": "smtp", "channel": "email", "address": "me@example.com"}
    assert window.post(PAGE, fields).status_code == 403
    assert window.post(PAGE, {"provider": "smtp"}).status_code == 403
    assert mail.sent == []


def test_a_provider_that_is_not_configured_cannot_be_asked(door: Client) -> None:
    assert door.post(PAGE, {"provider": "twilio"}).status_code == 400


def test_an_account_shows_what_is_missing_and_when_the_last_receipt_came(
    window: Client, mail: _Mail
) -> None:
    with state.connection() as redis:
        redis.delete("receipts:last")
    page = window.get(PAGE).content.decode()
    assert "never connected: <code>manage.py connect smtp</code>" in page
    assert "gives none" in page
    bad = {"subject": "topic", "state": "BAD", "detail": "set NOTIFY_SES_TOPICS=arn:x"}
    good = {"subject": "sender", "state": "good", "detail": "shop.example is verified"}
    ProviderConnection.objects.create(provider="smtp", run_by="ops", findings=[good, bad])
    last_receipts.forget()
    last_receipts.note("smtp")
    page = window.get(PAGE).content.decode()
    assert "topic: set NOTIFY_SES_TOPICS=arn:x" in page
    assert '<p class="nc-bad">sender' not in page
    assert "1 good" in page
    assert "sender: shop.example is verified" in page
    assert f"{clock.now():%Y-%m-%d}" in page
    assert "by ops" in page
    ProviderConnection.objects.update(findings=[good])
    assert "nothing is missing" in window.get(PAGE).content.decode()
    assert mail.sent == []
