"""An operator sees the endpoints of producers, steers them, and sends a test event."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import (
    AuditEntry,
    Producer,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookMessage,
)
from notifications.core.rules.lane import Mode

LIST = reverse("admin:notifications_webhookendpoint_changelist")


@pytest.fixture
def endpoint(operator: User) -> WebhookEndpoint:
    assert operator.is_staff
    return WebhookEndpoint.objects.create(
        producer=Producer.objects.create(name="orders"),
        mode=Mode.LIVE,
        url="https://hooks.example.com/in",
    )


def _page(endpoint: WebhookEndpoint, act: str = "change") -> str:
    own = reverse("admin:notifications_webhookendpoint_change", args=[endpoint.pk])
    return own if act == "change" else own.replace("/change/", f"/{act}/")


def test_an_endpoint_is_paused_resumed_and_disabled(
    door: Client, endpoint: WebhookEndpoint
) -> None:
    assert endpoint.url in door.get(LIST).content.decode()
    for act, state in (("pause", "paused"), ("resume", "active"), ("disable", "disabled")):
        door.post(LIST, {"action": act, "_selected_action": [endpoint.pk]})
        endpoint.refresh_from_db()
        assert endpoint.state == state
        assert AuditEntry.objects.filter(operation=f"{act}_webhook_endpoint").exists()


def test_the_filter_and_the_url_are_edited(door: Client, endpoint: WebhookEndpoint) -> None:
    form = {"url": endpoint.url, "events": ["notification.failed"], "preset": "brief"}
    assert door.post(_page(endpoint), form).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.events, endpoint.preset) == (["notification.failed"], "brief")
    answer = door.post(_page(endpoint), form | {"url": "https://10.0.0.1/"})
    assert "Not allowed" in answer.content.decode()


def test_a_test_event_is_sent_after_a_question(door: Client, endpoint: WebhookEndpoint) -> None:
    where = reverse("admin:notifications_webhookendpoint_send_test", args=[endpoint.pk])
    assert "webhook.test" in door.get(where).content.decode()
    assert WebhookMessage.objects.count() == 0
    assert door.post(where).status_code == 302
    assert WebhookMessage.objects.get().type == "webhook.test"


def test_a_replay_begins(door: Client, endpoint: WebhookEndpoint) -> None:
    where = reverse("admin:notifications_webhookendpoint_replay", args=[endpoint.pk])
    assert door.post(where, {"hours": "0"}).status_code == 200
    assert door.post(where, {"hours": "2"}).status_code == 302
    endpoint.refresh_from_db()
    assert endpoint.replay_since is not None


@pytest.mark.parametrize("page", ["send_test", "replay"])
def test_a_disabled_endpoint_takes_no_messages(
    door: Client, endpoint: WebhookEndpoint, page: str
) -> None:
    WebhookEndpoint.objects.update(state="disabled")
    where = reverse(f"admin:notifications_webhookendpoint_{page}", args=[endpoint.pk])
    assert door.post(where, {"hours": "2"}).status_code == 302
    endpoint.refresh_from_db()
    assert endpoint.replay_since is None
    assert not WebhookMessage.objects.exists()


def test_a_call_shows_its_message_and_answer(door: Client, endpoint: WebhookEndpoint) -> None:
    door.post(reverse("admin:notifications_webhookendpoint_send_test", args=[endpoint.pk]))
    attempt = WebhookAttempt.objects.create(
        message_id=WebhookMessage.objects.get().pk,
        number=1,
        endpoint_id=endpoint.pk,
        started_at=clock.now(),
        latency_ms=12,
        http_status=503,
        response="in maintenance",
    )
    assert "503" in door.get(_page(endpoint)).content.decode()
    page = door.get(reverse("admin:notifications_webhookattempt_change", args=[attempt.pk]))
    assert "in maintenance" in page.content.decode()
    assert "webhook.test" in page.content.decode()


def test_a_viewer_changes_nothing(viewer: User, endpoint: WebhookEndpoint) -> None:
    client = Client()
    client.force_login(viewer)
    assert client.get(_page(endpoint)).status_code == 200
    where = reverse("admin:notifications_webhookendpoint_send_test", args=[endpoint.pk])
    assert client.post(where).status_code == 403
    assert WebhookMessage.objects.count() == 0
