"""The state of an endpoint keeps its word whatever happens meanwhile."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from threading import Event, Thread
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction

from notifications.core import clock
from notifications.core.models import Alert, WebhookAttempt, WebhookEndpoint, WebhookMessage
from notifications.core.rules.webhook_events import EndpointState, MessageState
from notifications.core.store.postgres import alerts, webhook_messages
from notifications.core.store.postgres.webhook_messages import CallResult
from notifications.core.webhooks import calls, endpoints, fan_out
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


def test_disabling_and_settling_wait_for_each_other_in_one_order(
    make_endpoint: MakeEndpoint,
) -> None:
    endpoint, token = make_endpoint("https://hooks.example/"), uuid4()
    last, first, middle = UUID(int=3), UUID(int=1), UUID(int=2)
    for message_id in (last, first, middle):  # the order in which a scan of the table finds them
        sent = endpoints.send_test(endpoint)
        found = WebhookMessage.objects.filter(pk=sent.pk)
        found.update(id=message_id, claim_token=token)
    results = [_result(endpoint, each) for each in (first, middle, last)]
    settling = _thread(lambda: webhook_messages.settle(token, results))
    disabling = _thread(lambda: endpoints.disable(endpoint.pk, reason=""))
    with transaction.atomic():
        WebhookMessage.objects.select_for_update().get(pk=middle)
        settling.start()
        _wait_for_waiting(1)
        disabling.start()
        _wait_for_waiting(2)
    for each in (settling, disabling):
        each.join()
    assert WebhookAttempt.objects.count() == len(results)
    assert set(WebhookMessage.objects.values_list("state", flat=True)) == {MessageState.SENT}


def _result(endpoint: WebhookEndpoint, message_id: UUID) -> CallResult:
    return CallResult(
        id=message_id,
        endpoint_id=endpoint.pk,
        state=MessageState.SENT.value,
        due_in=None,
        number=1,
        started_at=clock.now(),
        latency_ms=1,
        http_status=200,
        error="",
        response="",
    )


def _thread(work: Callable[[], None]) -> Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    return Thread(target=run)


def _wait_for_waiting(sessions: int) -> None:
    asked = (
        "SELECT count(DISTINCT l.pid) FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
        " WHERE NOT l.granted AND a.datname = current_database()"
    )
    ends_at, pause = time.monotonic() + 30, Event()
    with connection.cursor() as running:
        while True:
            running.execute("SELECT pg_stat_clear_snapshot()")
            running.execute(asked)
            found = running.fetchone()
            if found is not None and found[0] == sessions:
                return
            assert time.monotonic() < ends_at
            pause.wait(0.02)


@pytest.mark.parametrize("change", [endpoints.resume, endpoints.pause_failing])
def test_a_process_killed_before_the_alert_changes_no_state(
    make_endpoint: MakeEndpoint, monkeypatch: pytest.MonkeyPatch, change: Callable[..., None]
) -> None:
    def die(*_arguments: object) -> None:
        raise KeyboardInterrupt

    endpoint = make_endpoint("https://shop.example/")
    named = {"failures": 20} if change is endpoints.pause_failing else {}
    if not named:
        endpoints.pause_failing(endpoint.pk, failures=20)
    monkeypatch.setattr(alerts, "raise_once", die)
    monkeypatch.setattr(alerts, "resolve", die)
    with pytest.raises(KeyboardInterrupt):
        change(endpoint.pk, **named)
    endpoint.refresh_from_db()
    is_told = Alert.objects.filter(resolved_at=None).exists()
    assert (endpoint.state == EndpointState.PAUSED) == is_told == (not named)
