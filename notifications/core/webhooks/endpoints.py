"""Endpoints of status webhooks: create, change, rotate the secret, replay, test."""

from __future__ import annotations

import datetime as dt
import functools
from typing import Final
from uuid import uuid4

from django.db import transaction
from django.db.models import F, Q

from notifications.core import clock
from notifications.core.models import WebhookEndpoint, WebhookMessage, WebhookPosition
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.webhook_events import EndpointState, MessageState, StatusEvent
from notifications.core.store.postgres import alerts, change_feed
from notifications.core.webhooks import body
from providers.standard_webhooks import Secret

MOST: Final = 20
"""Endpoints of a producer in one mode."""
OVERLAP: Final = dt.timedelta(hours=24)
"""Time for which the previous secret signs too, if the producer names no other."""


def secrets_of(endpoint: WebhookEndpoint, *, now: dt.datetime) -> list[Secret]:
    """Return the secrets that sign for an endpoint, newest first."""
    return body.keys_of(
        endpoint.pk,
        version=endpoint.secret_version,
        previous_until=endpoint.previous_secret_until,
        now=now,
    )


def rotate(endpoint: WebhookEndpoint, *, overlap: dt.timedelta) -> Secret:
    """Give an endpoint a new secret; the previous secret signs for `overlap` as well."""
    now = clock.now()
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        secret_version=F("secret_version") + 1, previous_secret_until=now + overlap
    )
    endpoint.refresh_from_db()
    return secrets_of(endpoint, now=now)[0]


def resume(endpoint_id: int) -> None:
    """Let an endpoint's messages leave again."""
    with transaction.atomic():
        _set_state(endpoint_id, EndpointState.ACTIVE, reason="")
        WebhookEndpoint.objects.filter(pk=endpoint_id).update(failures=0, failing_since=None)
        alerts.resolve(AlertKind.WEBHOOK_PAUSED, _subject(endpoint_id))


def pause(endpoint_id: int, *, reason: str) -> None:
    """Let an endpoint's messages wait."""
    _set_state(endpoint_id, EndpointState.PAUSED, reason=reason)


def pause_failing(endpoint_id: int, *, failures: int) -> None:
    """Pause an active endpoint after long failure, with an alert."""
    found = WebhookEndpoint.objects.filter(pk=endpoint_id, state=EndpointState.ACTIVE)
    said = f"{failures} calls failed, and none succeeded for an hour."
    with transaction.atomic():
        if not found.update(state=EndpointState.PAUSED, state_reason=said, state_since=clock.now()):
            return
        named = WebhookEndpoint.objects.select_related("producer").get(pk=endpoint_id)
        detail = f"producer {named.producer.name}: {said}"
        alerts.raise_once(AlertKind.WEBHOOK_PAUSED, _subject(endpoint_id), detail)


def disable(endpoint_id: int, *, reason: str) -> None:
    """Stop an endpoint: waiting messages are given up, a replay ends, no messages are made."""
    with transaction.atomic():
        _set_state(endpoint_id, EndpointState.DISABLED, reason=reason)
        WebhookEndpoint.objects.filter(pk=endpoint_id).update(replay_since=None)
        _give_up_waiting(endpoint_id)
        alerts.resolve(AlertKind.WEBHOOK_PAUSED, _subject(endpoint_id))


def disable_gone(endpoint_id: int, *, url: str) -> None:
    """Disable an endpoint whose URL answered 410, unless the endpoint has another URL since."""
    with transaction.atomic():
        found = WebhookEndpoint.objects.filter(pk=endpoint_id, url=url)
        if found.select_for_update().exists():
            disable(endpoint_id, reason="The endpoint answered 410 Gone.")


def remove(endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint; no worker claims the messages, which housekeeping deletes in time."""
    alerts.resolve(AlertKind.WEBHOOK_PAUSED, _subject(endpoint.pk))
    endpoint.delete()


def replay(endpoint_id: int, *, since: dt.datetime) -> None:
    """Send the messages of all changes since an instant again, with the same ids."""
    start = change_feed.bounds(since=since).marked or 0
    position = WebhookPosition.objects.first()
    end = position.xid + 1 if position else change_feed.bounds().open_from
    WebhookEndpoint.objects.filter(pk=endpoint_id).update(
        replay_since=since, replay_xid=start, replay_seq=0, replay_end=end
    )


def send_test(endpoint: WebhookEndpoint) -> WebhookMessage:
    """Send a test event to an endpoint with a URL."""
    now = clock.now()
    return WebhookMessage.objects.create(
        id=uuid4(),
        endpoint_id=endpoint.pk,
        type=StatusEvent.TEST.value,
        occurred_at=now,
        due_at=now,
        created_at=now,
    )


_ensured: Final[set[tuple[int, int]]] = set()
"""Producers and modes whose endpoint of requests is known to exist. The API does not delete it."""


def ensure_of_requests(wanted: set[tuple[int, int]]) -> None:
    """Create the endpoint for the `webhook_url` of requests, for producers and modes without."""
    missing = wanted - _ensured
    if not missing:
        return
    rows = [WebhookEndpoint(producer_id=producer, mode=mode) for producer, mode in sorted(missing)]
    WebhookEndpoint.objects.bulk_create(rows, ignore_conflicts=True)
    transaction.on_commit(functools.partial(_ensured.update, missing))


def forget() -> None:
    """Forget which endpoints of requests exist."""
    _ensured.clear()


def is_full(producer_id: int, mode: int) -> bool:
    """Return True if a producer has as many endpoints as permitted."""
    return (
        WebhookEndpoint.objects.filter(~Q(url=""), producer_id=producer_id, mode=mode).count()
        >= MOST
    )


def _give_up_waiting(endpoint_id: int) -> None:
    waiting = WebhookMessage.objects.filter(endpoint_id=endpoint_id, due_at__isnull=False)
    # In the order of the ids, in which `settle` locks too, so that the two cannot deadlock.
    locked = waiting.order_by("pk").select_for_update().values("pk")
    WebhookMessage.objects.filter(pk__in=locked).update(
        state=MessageState.FAILED, due_at=None, claim_token=None
    )


def _set_state(endpoint_id: int, state: EndpointState, *, reason: str) -> None:
    with transaction.atomic():
        found = WebhookEndpoint.objects.filter(pk=endpoint_id)
        if found.filter(state=EndpointState.DISABLED).select_for_update().exists():
            _give_up_waiting(endpoint_id)  # of a fan-out that committed after the disabling
        found.update(state=state, state_reason=reason, state_since=clock.now())


def _subject(endpoint_id: int) -> str:
    return f"webhook endpoint {endpoint_id}"
