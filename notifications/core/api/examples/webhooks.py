"""Examples for webhook endpoints."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import Example, Examples

_ENDPOINT: Final = {"endpoint_id": 65}
_URL: Final = "https://hooks.example.com/notifications"

WEBHOOKS: Final[Examples] = {
    "list_webhook_endpoints": {
        "minimal": Example(summary="The endpoints of the producer", status=200),
        "usual": Example(
            summary="Ten endpoints after a page", status=200, query={"limit": 10, "cursor": 4711}
        ),
    },
    "create_webhook_endpoint": {
        "minimal": Example(summary="All events", status=201, body={"url": _URL}),
        "usual": Example(
            summary="Two events, short retries; a repeat gets the same secret",
            status=201,
            headers={"Idempotency-Key": "webhook-orders-2026-11"},
            body={
                "url": _URL,
                "events": ["notification.delivered", "notification.failed"],
                "preset": "brief",
            },
        ),
    },
    "get_webhook_endpoint": {
        "minimal": Example(summary="An endpoint", status=200, path=_ENDPOINT),
        "test": Example(summary="The state and the failures", status=200, path=_ENDPOINT),
    },
    "change_webhook_endpoint": {
        "minimal": Example(
            summary="Resume a paused endpoint",
            status=200,
            path=_ENDPOINT,
            body={"state": "active"},
        ),
        "usual": Example(
            summary="Another URL and filter",
            status=200,
            path=_ENDPOINT,
            body={"url": f"{_URL}/v2", "events": ["notification.failed"]},
        ),
    },
    "delete_webhook_endpoint": {
        "minimal": Example(summary="Delete an endpoint", status=204, path=_ENDPOINT),
        "usual": Example(summary="Waiting messages are not sent", status=204, path=_ENDPOINT),
    },
    "rotate_webhook_secret": {
        "minimal": Example(
            summary="Both secrets sign for a day", status=201, path=_ENDPOINT, body={}
        ),
        "usual": Example(
            summary="The former secret ends at once",
            status=201,
            path=_ENDPOINT,
            headers={"Idempotency-Key": "webhook-rotation-2026-11"},
            body={"overlap_hours": 0},
        ),
    },
    "replay_webhooks": {
        "minimal": Example(
            summary="The messages since an instant",
            status=202,
            path=_ENDPOINT,
            body={"since": "2026-11-20T00:00:00Z"},
        ),
        "usual": Example(
            summary="After an outage of the receiver",
            status=202,
            path=_ENDPOINT,
            headers={"Idempotency-Key": "outage-2026-11-20"},
            body={"since": "2026-11-20T18:30:00+01:00"},
        ),
    },
    "test_webhook_endpoint": {
        "minimal": Example(summary="A test event", status=202, path=_ENDPOINT),
        "usual": Example(
            summary="A repeat sends no further event",
            status=202,
            path=_ENDPOINT,
            headers={"Idempotency-Key": "webhook-test-1"},
        ),
    },
    "list_webhook_attempts": {
        "minimal": Example(summary="The latest calls", status=200, path=_ENDPOINT),
        "usual": Example(
            summary="Ten calls after a page",
            status=200,
            path=_ENDPOINT,
            query={"limit": 10, "cursor": 4711},
        ),
    },
}
