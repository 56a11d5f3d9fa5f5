"""Fan-out: the change feed becomes messages to endpoints, in the order of the commits.

The stored position moves in the transaction that inserts the messages, so a killed process repeats
a batch or has done it. Concurrent processes take turns at the row of the position. Without an
endpoint the position follows the feed without a scan.

A replay reads the feed again for one endpoint, from an instant to the position at its start.
"""

from __future__ import annotations

from typing import Final

import structlog
from django.db import transaction

from notifications.core.models import WebhookEndpoint, WebhookPosition
from notifications.core.rules.feed_position import FeedPosition
from notifications.core.rules.webhook_events import EndpointState
from notifications.core.store.postgres import change_feed, webhook_messages
from notifications.core.store.postgres.change_feed import FeedBounds

_log = structlog.get_logger(__name__)

_STATES: Final = (EndpointState.ACTIVE, EndpointState.PAUSED)
_FIRST: Final = 1
"""Id of the row with the position."""


def work_off() -> bool:
    """Make the messages of the next events; returns True if the scan found events.

    Another process that does the same counts as no events.
    """
    if not WebhookPosition.objects.exists():
        start = change_feed.bounds()
        WebhookPosition.objects.get_or_create(id=_FIRST, defaults={"xid": start.open_from})
    with transaction.atomic():
        stored = WebhookPosition.objects.select_for_update(skip_locked=True).first()
        return stored is not None and _work_off(stored)


def _work_off(stored: WebhookPosition) -> bool:
    state = change_feed.bounds()
    position = FeedPosition(cluster=state.cluster, xid=stored.xid, seq=stored.seq)
    if state.refuses(position):
        _log.warning("webhook_position_lost", xid=stored.xid, next=state.next)
        _move(stored, xid=state.open_from)
        return False
    if not WebhookEndpoint.objects.filter(state__in=_STATES).exists():
        if state.open_from > stored.xid:
            _move(stored, xid=state.open_from)
        return False
    end = change_feed.end_of(position, state)
    if end == position:
        return False
    webhook_messages.fan_out(position, end)
    _move(stored, xid=end.xid, seq=end.seq)
    return True


def _move(stored: WebhookPosition, *, xid: int, seq: int = 0) -> None:
    WebhookPosition.objects.filter(pk=stored.pk).update(xid=xid, seq=seq)


def replay_next() -> bool:
    """Make messages of a page of a replay; returns True if a replay may have further pages."""
    with transaction.atomic():
        waiting = WebhookEndpoint.objects.exclude(replay_since=None).order_by("id")
        endpoint = waiting.select_for_update(skip_locked=True).first()
        return endpoint is not None and _replay(endpoint, change_feed.bounds())


def _replay(endpoint: WebhookEndpoint, state: FeedBounds) -> bool:
    position = FeedPosition(
        cluster=state.cluster,
        xid=endpoint.replay_xid,
        seq=endpoint.replay_seq,
        since=endpoint.replay_since,
    )
    end = change_feed.end_of(position, state, below=endpoint.replay_end)
    found = WebhookEndpoint.objects.filter(pk=endpoint.pk)
    if end == position or state.refuses(position):
        found.update(replay_since=None)
        return True
    webhook_messages.fan_out(position, end, endpoint_id=endpoint.pk, again=True)
    found.update(replay_xid=end.xid, replay_seq=end.seq)
    return True
