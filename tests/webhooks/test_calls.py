"""Endpoints get signed messages, each at least once, and one endpoint delays no other."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from uuid import UUID

import orjson
import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection
from django.db.models import F

from notifications.core import clock
from notifications.core.models import (
    Alert,
    Notification,
    Producer,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookMessage,
)
from notifications.core.rules import ids
from notifications.core.rules.transitions import EXPIRE
from notifications.core.rules.webhook_events import EndpointState, MessageState
from notifications.core.store.postgres import transitions
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.webhooks import body, calls, endpoints, fan_out
from providers.conformance import Act
from providers.sandbox_server.wire import ServerAnswer
from providers.standard_webhooks import verify
from tests.providers.fakes import HttpFake
from tests.store.stored_rows import MakeDelivery
from tests.webhooks.conftest import MakeEndpoint

pytestmark = pytest.mark.django_db(transaction=True)
_HOUR = dt.timedelta(hours=1)


def _fan_out() -> None:
    while fan_out.work_off():
        pass


def _make_due() -> None:
    WebhookMessage.objects.exclude(due_at=None).update(due_at=TransactionNow())


def _wait_until(is_so: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 30
    pause = Event()
    while not is_so():
        assert time.monotonic() < ends_at
        pause.wait(0.02)


@pytest.fixture
def endpoint(make_endpoint: MakeEndpoint, fake: HttpFake) -> WebhookEndpoint:
    made = make_endpoint(fake.url)
    _fan_out()
    return made


def _message(endpoint: WebhookEndpoint) -> WebhookMessage:
    return WebhookMessage.objects.get(endpoint_id=endpoint.pk)


def test_a_message_has_the_facts_of_its_delivery_and_no_variable(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    delivery_id = make_delivery()
    Notification.objects.update(
        metadata={"order": "ORD-1"},
        variables={"name": "secret name"},
        traceparent=f"00-{'a' * 32}-{'b' * 16}-01",
    )
    transitions.apply(EXPIRE, [Move(id=delivery_id, reason="ttl_passed")], ANYONE)
    WebhookEndpoint.objects.update(events=["notification.expired"])
    _fan_out()
    assert calls.work_off() == 1
    told = orjson.loads(fake.requests[0].body)
    assert told["type"] == "notification.expired"
    assert told["data"] == {
        "producer": Producer.objects.get().name,
        "notification_id": str(ids.notification_of(delivery_id)),
        "delivery_id": str(delivery_id),
        "user_id": "maria",
        "channel": "email",
        "provider": None,
        "status": "expired",
        "reason": "ttl_passed",
        "message": "The time to live ended before the message could be sent.",
        "metadata": {"order": "ORD-1"},
        "occurred_at": told["timestamp"],
        "request_id": "a" * 32,
    }
    assert _message(endpoint).state == MessageState.SENT


def test_a_message_is_signed_and_its_call_logged(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _fan_out()
    assert calls.work_off() == 1
    [request] = fake.requests
    secrets, now = endpoints.secrets_of(endpoint, now=clock.now()), clock.now()
    verify(request.body, headers=request.headers, secrets=secrets, now=now)
    message = _message(endpoint)
    assert (message.state, message.due_at) == (MessageState.SENT, None)
    assert request.headers["webhook-id"] == str(message.pk)
    attempt = WebhookAttempt.objects.get()
    assert (attempt.http_status, attempt.number, attempt.error) == (200, 1, "")
    assert attempt.response == '{"message_id": "m-1"}'
    assert calls.work_off() == 0


def test_the_clients_library_verifies_a_message(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    from notify_client import webhooks  # noqa: PLC0415 - beside the service, in clients/python

    make_delivery()
    _fan_out()
    calls.work_off()
    [request] = fake.requests
    secret = endpoints.secrets_of(endpoint, now=clock.now())[0].text()
    payload = webhooks.verify(request.body, request.headers, [secret])
    assert payload["type"] == "notification.accepted"


@pytest.mark.parametrize("status", [302, 404, 429, 500])
def test_a_failure_is_repeated_with_the_same_id_and_no_redirect_is_followed(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery, status: int
) -> None:
    make_delivery()
    _fan_out()
    fake.status = status
    assert calls.work_off() == 1
    message = _message(endpoint)
    assert (message.state, message.attempts) == (MessageState.WAITING, 1)
    assert message.due_at is not None
    assert message.due_at > clock.now()
    assert calls.work_off() == 0
    fake.status = 200
    _make_due()
    assert calls.work_off() == 1
    assert fake.keys == [str(message.pk)] * 2
    assert _message(endpoint).state == MessageState.SENT
    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since) == (0, None)


def test_retry_after_lengthens_the_wait(
    endpoint: WebhookEndpoint,
    fake: HttpFake,
    make_delivery: MakeDelivery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_delivery()
    _fan_out()
    answer = ServerAnswer(status=503, headers=(("Retry-After", "3000"),))
    monkeypatch.setattr(fake, "_handle", lambda _request: answer)
    calls.work_off()
    due_at = _message(endpoint).due_at
    assert due_at is not None
    assert due_at > clock.now() + dt.timedelta(seconds=2_900)


def test_the_last_failure_gives_a_message_up(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _fan_out()
    fake.act(Act.UNAVAILABLE)
    for _ in range(14):
        _make_due()
        assert calls.work_off() == 1
    message = _message(endpoint)
    assert (message.state, message.due_at) == (MessageState.FAILED, None)
    assert WebhookAttempt.objects.count() == 14


def test_brief_ends_with_a_refusal(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    endpoint = make_endpoint(fake.url, preset="brief")
    _fan_out()
    make_delivery()
    _fan_out()
    fake.act(Act.REJECT)
    calls.work_off()
    assert _message(endpoint).state == MessageState.FAILED


def test_410_disables_the_endpoint(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _fan_out()
    fake.status = 410
    calls.work_off()
    assert _message(endpoint).state == MessageState.FAILED
    endpoint.refresh_from_db()
    assert endpoint.state == EndpointState.DISABLED
    make_delivery()
    _fan_out()
    assert WebhookMessage.objects.count() == 1


def test_410_of_a_requests_url_ends_its_message_alone(
    make_endpoint: MakeEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    endpoint = make_endpoint("")
    _fan_out()
    make_delivery()
    Notification.objects.update(webhook_url=fake.url)
    _fan_out()
    fake.status = 410
    calls.work_off()
    assert _message(endpoint).state == MessageState.FAILED
    endpoint.refresh_from_db()
    assert (endpoint.state, endpoint.failures) == (EndpointState.ACTIVE, 0)


def test_an_endpoint_that_fails_for_an_hour_is_paused_with_an_alert(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    fake.act(Act.UNAVAILABLE)
    make_delivery()
    _fan_out()
    WebhookEndpoint.objects.update(failures=19, failing_since=clock.now() - 2 * _HOUR)
    calls.work_off()
    endpoint.refresh_from_db()
    assert (endpoint.state, endpoint.failures) == (EndpointState.PAUSED, 20)
    assert Alert.objects.get().kind == "webhook_paused"
    _make_due()
    assert calls.work_off() == 0
    fake.act(Act.ACCEPT)
    endpoints.resume(endpoint.pk)
    assert calls.work_off() == 1
    assert _message(endpoint).state == MessageState.SENT
    assert Alert.objects.get().resolved_at is not None


@pytest.mark.usefixtures("endpoint")
def test_a_private_address_is_not_called(
    fake: HttpFake,
    make_delivery: MakeDelivery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_delivery()
    _fan_out()
    monkeypatch.delenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE")
    body.policy.cache_clear()
    WebhookEndpoint.objects.update(url="https://localhost/")  # resolves to loopback
    calls.work_off()
    WebhookEndpoint.objects.update(url=fake.url)  # a literal of loopback
    _make_due()
    calls.work_off()
    errors = WebhookAttempt.objects.order_by("id").values_list("error", flat=True)
    assert list(errors) == ["forbidden_address", "forbidden_address"]
    assert fake.requests == []


def test_both_secrets_sign_within_the_overlap(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    [old] = endpoints.secrets_of(endpoint, now=clock.now())
    new = endpoints.rotate(endpoint, overlap=_HOUR)
    assert old != new
    make_delivery()
    _fan_out()
    calls.work_off()
    WebhookEndpoint.objects.update(previous_secret_until=clock.now())
    make_delivery()
    _fan_out()
    calls.work_off()
    both, one = (request.headers["webhook-signature"].split() for request in fake.requests)
    assert (len(both), len(one)) == (2, 1)
    for request, secrets in zip(fake.requests, ([old, new], [new]), strict=True):
        for secret in secrets:
            verify(request.body, headers=request.headers, secrets=[secret], now=clock.now())


def test_nine_endpoints_go_on_while_one_hangs(
    make_endpoint: MakeEndpoint,
    make_fake: Callable[[], HttpFake],
    make_delivery: MakeDelivery,
) -> None:
    hanging, good = make_fake(), make_fake()
    hanging.act(Act.HANG)
    stuck = make_endpoint(hanging.url)
    fine = [make_endpoint(f"{good.url}/{number}").pk for number in range(9)]
    _fan_out()
    for _ in range(12):
        make_delivery()
    _fan_out()
    sent = WebhookMessage.objects.filter(endpoint_id__in=fine, state=MessageState.SENT)
    run = Thread(target=_work_off_and_close)
    run.start()
    _wait_until(lambda: sent.count() == 9 * 12)
    assert len(hanging.requests) == calls.SHARE
    assert WebhookMessage.objects.filter(endpoint_id=stuck.pk, state=MessageState.SENT).count() == 0
    hanging.act(Act.ACCEPT)
    hanging.stop()
    hanging.start()
    run.join()
    assert sent.count() == 9 * 12


def _work_off_and_close() -> None:
    calls.work_off()
    connection.close()


def test_a_kill_between_the_call_and_the_settle_repeats_the_id(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _fan_out()
    fake.act(Act.HANG)
    work_off = "from notifications.core.webhooks import calls; calls.work_off()"
    program = f"import django; django.setup(); {work_off}"
    with subprocess.Popen([sys.executable, "-c", program], env=_environ()) as worker:
        _wait_until(lambda: len(fake.requests) == 1)
        worker.send_signal(signal.SIGKILL)
    fake.act(Act.ACCEPT)
    assert calls.work_off() == 0  # the lease
    _make_due()
    assert calls.work_off() == 1
    first, second = fake.keys
    assert first == second
    message = _message(endpoint)
    assert (UUID(first), message.state, message.calls) == (message.pk, MessageState.SENT, 2)


def _environ() -> dict[str, str]:
    to = connection.get_connection_params()
    url = f"postgresql://{to['user']}:{to.get('password', '')}@{to['host']}:{to['port']}"
    return {**os.environ, "DATABASE_URL": f"{url}/{to['dbname']}"}


def test_a_message_of_an_erased_notification_is_not_sent(
    endpoint: WebhookEndpoint, fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _fan_out()
    Notification.objects.all().delete()
    calls.work_off()
    assert _message(endpoint).state == MessageState.FAILED
    assert fake.requests == []
    endpoint.refresh_from_db()
    assert endpoint.failures == 0


def test_a_test_event_tells_no_notification(endpoint: WebhookEndpoint, fake: HttpFake) -> None:
    message = endpoints.send_test(endpoint)
    calls.work_off()
    [request] = fake.requests
    told = orjson.loads(request.body)
    assert (told["type"], request.headers["webhook-id"]) == ("webhook.test", str(message.pk))
    assert set(told["data"]) == {"message", "occurred_at"}


@pytest.mark.usefixtures("endpoint")
def test_a_failing_endpoint_has_one_call_in_flight(
    fake: HttpFake, make_delivery: MakeDelivery
) -> None:
    for _ in range(4):
        make_delivery()
    _fan_out()
    fake.act(Act.HANG)
    WebhookEndpoint.objects.update(failures=F("failures") + calls.FAILING)
    run = Thread(target=_work_off_and_close)
    run.start()
    _wait_until(lambda: len(fake.requests) == 1)
    leased = WebhookMessage.objects.exclude(claim_token=None)
    assert leased.count() == 1
    fake.act(Act.ACCEPT)
    fake.stop()
    fake.start()
    run.join()
    assert len(set(fake.keys)) == 4
