"""Due messages are claimed fairly, however old the backlog of another endpoint is."""

from __future__ import annotations

from uuid import uuid4

import pytest

from notifications.core.models import Producer, WebhookEndpoint, WebhookMessage
from notifications.core.rules.lane import Mode
from notifications.core.rules.webhook_events import MessageState
from notifications.core.store.postgres import webhook_messages
from notifications.core.store.postgres.webhook_messages import ClaimedMessage
from notifications.core.webhooks import endpoints
from notifications.core.webhooks.calls import FAILING, SHARE

pytestmark = pytest.mark.django_db(transaction=True)
_SLOW = 10


def _make_endpoint(*, failures: int = 0, messages: int) -> WebhookEndpoint:
    Producer.objects.get_or_create(id=1, defaults={"name": "orders"})
    made = WebhookEndpoint.objects.create(
        producer_id=1, mode=Mode.LIVE, url="https://hooks.example/", failures=failures
    )
    for _ in range(messages):
        endpoints.send_test(made)
    return made


def _claim(limit: int) -> list[ClaimedMessage]:
    return webhook_messages.claim(token=uuid4(), limit=limit, share=SHARE, failing=FAILING)


def _per_endpoint(claimed: list[ClaimedMessage]) -> list[int]:
    ids = [message.endpoint_id for message in claimed]
    return sorted(ids.count(each) for each in set(ids))


def test_room_is_divided_among_endpoints_whose_messages_wait() -> None:
    for _ in range(_SLOW):
        _make_endpoint(messages=2 * SHARE)
    assert _per_endpoint(_claim(2 * _SLOW)) == [2] * _SLOW
    assert _per_endpoint(_claim(10_000)) == [SHARE - 2] * _SLOW
    assert _claim(10_000) == []


def test_slow_endpoints_with_old_messages_leave_room_to_another() -> None:
    for _ in range(_SLOW):
        _make_endpoint(messages=2 * SHARE)
    ended = _claim(_SLOW * SHARE)[0]
    found = WebhookMessage.objects.filter(id=ended.id)
    found.update(state=MessageState.SENT, due_at=None, claim_token=None)
    good = _make_endpoint(messages=1)
    [next_one] = _claim(1)
    assert next_one.endpoint_id == good.pk


def test_failing_endpoints_with_old_messages_leave_room_to_another() -> None:
    for _ in range(_SLOW):
        _make_endpoint(messages=2, failures=FAILING)
    good = _make_endpoint(messages=SHARE)
    taken = [message.endpoint_id for message in _claim(_SLOW)]
    assert (taken.count(good.pk), len(set(taken))) == (SHARE // 2, 1 + _SLOW - SHARE // 2)
