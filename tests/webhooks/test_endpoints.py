"""The state of an endpoint keeps its word whatever happens meanwhile."""

from __future__ import annotations

import datetime as dt
from threading import Thread

import pytest
from django.db import connection, transaction

from notifications import clock
from notifications.models import WebhookEndpoint, WebhookMessage
from notifications.rules.webhook_events import EndpointState, MessageState
from notifications.webhooks import calls, endpoints, fan_out
from providers.sandbox_server.wire import ServerAnswer
from tests.providers.fakes import HttpFake
from tests.store.stored_rows import MakeDelivery
from tests.webhooks.conftest import MakeEndpoint

pytestmark = pytest.mark.django_db(transaction=True)


def _work_off() -> None:
    while fan_out.work_off() or fan_out.replay_next():
        pass


def test_410_of_a_former_url_leaves_the_endpoint_active(
    make_endpoint: MakeEndpoint,
    fake: HttpFake,
    make_delivery: MakeDelivery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint = make_endpoint(fake.url)
    _work_off()
    make_delivery()
    _work_off()

    def answer(_request: object) -> ServerAnswer:
        change = Thread(target=_give_new_url)
        change.start()
        change.join()
        return ServerAnswer(status=410)

    monkeypatch.setattr(fake, "_handle", answer)
    assert calls.work_off() == 1
    endpoint.refresh_from_db()
    assert endpoint.state == EndpointState.ACTIVE


def _give_new_url() -> None:
    WebhookEndpoint.objects.update(url="https://new.example/")
    connection.close()


def test_disabling_ends_a_replay(make_endpoint: MakeEndpoint, make_delivery: MakeDelivery) -> None:
    endpoint = make_endpoint("https://hooks.example/")
    _work_off()
    make_delivery()
    _work_off()
    endpoints.replay(endpoint.pk, since=clock.now() - dt.timedelta(hours=1))
    endpoints.disable(endpoint.pk, reason="")
    endpoints.resume(endpoint.pk)
    _work_off()
    assert WebhookMessage.objects.get().state == MessageState.FAILED
    endpoint.refresh_from_db()
    assert endpoint.replay_since is None


@pytest.mark.parametrize("state", ["active", "paused"])
def test_messages_of_a_fan_out_that_commits_after_the_disabling_are_not_sent(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery, state: str
) -> None:
    endpoint = make_endpoint(fake.url)
    _work_off()
    make_delivery()
    with transaction.atomic():
        _work_off()
        disabling = Thread(target=_disable, args=(endpoint.pk,))
        disabling.start()
        disabling.join()
    if state == "paused":
        endpoints.pause(endpoint.pk, reason="")
    endpoints.resume(endpoint.pk)
    assert calls.work_off() == 0
    assert WebhookMessage.objects.get().state == MessageState.FAILED


def _disable(endpoint_id: int) -> None:
    endpoints.disable(endpoint_id, reason="")
    connection.close()
