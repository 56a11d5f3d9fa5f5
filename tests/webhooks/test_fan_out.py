"""Each status change becomes one message to each endpoint that wants it."""

from __future__ import annotations

import datetime as dt
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from notifications.core import clock
from notifications.core.models import (
    Notification,
    Producer,
    WebhookEndpoint,
    WebhookMessage,
    WebhookPosition,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode
from notifications.core.rules.transitions import DELIVER, EXPIRE
from notifications.core.rules.webhook_events import EndpointState, MessageState
from notifications.core.store.postgres import change_feed, transitions, webhook_messages
from notifications.core.store.postgres.transitions import ANYONE, Move
from notifications.core.sweeps import housekeeping
from notifications.core.webhooks import endpoints, fan_out
from tests.store.stored_rows import MakeDelivery
from tests.webhooks.conftest import MakeEndpoint

pytestmark = pytest.mark.django_db(transaction=True)
_URL = "https://hooks.example/1"


def _work_off() -> None:
    while fan_out.work_off() or fan_out.replay_next():
        pass


def _types(endpoint: WebhookEndpoint) -> list[str]:
    found = WebhookMessage.objects.filter(endpoint_id=endpoint.pk)
    return sorted(found.values_list("type", flat=True))


def _expire(delivery_id: UUID) -> None:
    assert transitions.apply(EXPIRE, [Move(id=delivery_id, reason="ttl_passed")], ANYONE)


@pytest.fixture
def endpoint(make_endpoint: MakeEndpoint) -> WebhookEndpoint:
    made = make_endpoint(_URL)
    _work_off()
    return made


def test_each_change_is_one_message_however_often_the_fan_out_runs(
    endpoint: WebhookEndpoint, make_delivery: MakeDelivery
) -> None:
    _expire(make_delivery())
    _work_off()
    before = set(WebhookMessage.objects.values_list("id", flat=True))
    assert _types(endpoint) == ["notification.accepted", "notification.expired"]
    WebhookPosition.objects.update(xid=0, seq=0)  # as after a commit that was lost
    _work_off()
    assert set(WebhookMessage.objects.values_list("id", flat=True)) == before


def test_a_filter_chooses_events(make_endpoint: MakeEndpoint, make_delivery: MakeDelivery) -> None:
    endpoint = make_endpoint(_URL, events=["notification.expired"])
    _work_off()
    _expire(make_delivery())
    _work_off()
    assert _types(endpoint) == ["notification.expired"]


def test_an_endpoint_learns_of_its_own_producer_and_mode(
    endpoint: WebhookEndpoint, make_endpoint: MakeEndpoint, make_delivery: MakeDelivery
) -> None:
    tests = make_endpoint(_URL, mode=Mode.TEST)
    other = WebhookEndpoint.objects.create(
        producer=Producer.objects.create(id=2, name="other"), mode=Mode.LIVE, url=_URL
    )
    disabled = make_endpoint(_URL, state=EndpointState.DISABLED)
    paused = make_endpoint(_URL, state=EndpointState.PAUSED)
    make_delivery()
    _work_off()
    told = [_types(each) for each in (endpoint, tests, other, disabled, paused)]
    assert told == [["notification.accepted"], [], [], [], ["notification.accepted"]]


def test_the_url_of_a_request_gets_the_changes_of_its_notification(
    make_endpoint: MakeEndpoint, make_delivery: MakeDelivery
) -> None:
    of_requests = make_endpoint("")
    _work_off()
    with transaction.atomic():
        chosen, _ = make_delivery(), make_delivery()
        found = Notification.objects.filter(id=ids.notification_of(chosen))
        found.update(webhook_url="https://hooks.example/request")
    _work_off()
    [message] = WebhookMessage.objects.all()
    assert (message.endpoint_id, message.delivery_id) == (of_requests.pk, chosen)
    assert message.url == "https://hooks.example/request"


def test_changes_before_the_first_endpoint_are_not_told(
    make_endpoint: MakeEndpoint, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _work_off()
    endpoint = make_endpoint(_URL)
    _work_off()
    assert _types(endpoint) == []


def test_a_replay_sends_the_same_ids_again_from_its_instant(
    endpoint: WebhookEndpoint, make_delivery: MakeDelivery
) -> None:
    early = make_delivery()
    _work_off()
    change_feed.mark()
    since = clock.now()
    late = make_delivery()
    transitions.apply(DELIVER, [Move(id=late)], ANYONE)
    _work_off()
    told = set(WebhookMessage.objects.filter(delivery_id=late).values_list("id", flat=True))
    WebhookMessage.objects.update(state=MessageState.SENT, due_at=None, attempts=3)
    WebhookMessage.objects.filter(type="notification.delivered").delete()
    endpoints.replay(endpoint.pk, since=since)
    _work_off()
    again = WebhookMessage.objects.exclude(due_at=None)
    assert set(again.values_list("id", flat=True)) == told
    assert set(again.values_list("state", "attempts")) == {("waiting", 0)}
    assert WebhookMessage.objects.get(delivery_id=early).state == MessageState.SENT
    endpoint.refresh_from_db()
    assert endpoint.replay_since is None


@pytest.mark.parametrize("state", [MessageState.SENT, MessageState.WAITING])
def test_a_replayed_message_is_due_now_and_kept_anew(
    endpoint: WebhookEndpoint, make_delivery: MakeDelivery, state: MessageState
) -> None:
    make_delivery()
    _work_off()
    now = clock.now()
    retry_at = now + dt.timedelta(hours=4) if state is MessageState.WAITING else None
    old = now - dt.timedelta(days=7)
    WebhookMessage.objects.update(state=state, due_at=retry_at, created_at=old, attempts=9)
    endpoints.replay(endpoint.pk, since=old)
    _work_off()
    housekeeping.run_once(now=now + dt.timedelta(days=3), limit=10)
    message = WebhookMessage.objects.get()
    assert (message.state, message.attempts) == (MessageState.WAITING, 0)
    assert message.due_at is not None
    assert message.due_at < now + dt.timedelta(hours=1)


def test_a_replay_leaves_the_lease_of_a_call(
    endpoint: WebhookEndpoint, make_delivery: MakeDelivery
) -> None:
    make_delivery()
    _work_off()
    [claimed] = webhook_messages.claim(token=uuid4(), limit=1, share=1, failing=1)
    before = WebhookMessage.objects.get(id=claimed.id)
    endpoints.replay(endpoint.pk, since=clock.now() - dt.timedelta(days=1))
    _work_off()
    after = WebhookMessage.objects.get()
    assert (after.due_at, after.claim_token) == (before.due_at, before.claim_token)


def test_a_position_of_another_cluster_starts_anew(
    endpoint: WebhookEndpoint, make_delivery: MakeDelivery
) -> None:
    ahead = change_feed.bounds().next + 10**9
    WebhookPosition.objects.update(xid=ahead)
    _work_off()
    assert WebhookPosition.objects.get().xid < ahead
    make_delivery()
    _work_off()
    assert _types(endpoint) == ["notification.accepted"]


def test_old_messages_are_deleted(endpoint: WebhookEndpoint, make_delivery: MakeDelivery) -> None:
    make_delivery()
    _work_off()
    for age, kept in ((dt.timedelta(days=6), 1), (dt.timedelta(days=7, minutes=1), 0)):
        WebhookMessage.objects.update(created_at=clock.now() - age)
        housekeeping.run_once(now=clock.now(), limit=10)
        assert len(_types(endpoint)) == kept
