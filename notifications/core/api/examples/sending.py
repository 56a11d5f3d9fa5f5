"""Examples for notifications, keys and provider callbacks."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import (
    CLIENT_TOKEN,
    DELIVERY,
    NOTIFICATION,
    SCHEDULED,
    TEMPLATE,
    USER,
    Example,
    Examples,
)
from notifications.core.rules.lane import Mode

_ORDER: Final = {"restaurant": "Burger Palace", "order_id": "ORD-4521"}
_READY: Final = {
    "user_id": USER,
    "type": "ORDER_READY",
    "template_id": TEMPLATE,
    "variables": _ORDER,
}

NOTIFICATIONS: Final[Examples] = {
    "create_notification": {
        "minimal": Example(summary="A template to a registered recipient", status=202, body=_READY),
        "by_address": Example(
            summary="A template to an address",
            status=202,
            body={
                "to": {"phone": "+15552000042", "locale": "es"},
                "type": "ORDER_READY",
                "template_id": TEMPLATE,
                "variables": _ORDER,
            },
        ),
        "plain_text": Example(
            summary="A text without a template",
            status=202,
            body={
                "to": {"email": "ada@sandbox.example"},
                "type": "HELLO",
                "priority": "P2",
                "content": {"title": "Hello", "body": "My first message."},
            },
        ),
        "usual": Example(
            summary="With channels, a time to live, metadata and an idempotency key",
            status=202,
            headers={"Idempotency-Key": "ord-4521-ready"},
            body={
                **_READY,
                "priority": "P1",
                "channels": ["push", "sms"],
                "delivery": "first",
                "ttl_seconds": 1800,
                "collapse_key": "order-4521",
                "metadata": {"order_id": "ORD-4521"},
            },
        ),
        "with_fallback": Example(
            summary="A sign-in code by push, then by SMS if no receipt comes",
            status=202,
            body={
                **_READY,
                "priority": "P0",
                "channels": ["push", "sms"],
                "fallback_chain": True,
            },
        ),
        "in_the_morning": Example(
            summary="At nine in the morning, on the recipient's clock",
            status=202,
            body={**_READY, "send_at_local": "09:00"},
        ),
    },
    "create_notifications": {
        "minimal": Example(
            summary="One notification", status=202, body={"notifications": [_READY]}
        ),
        "usual": Example(
            summary="Two notifications, each with an idempotency key",
            status=202,
            body={
                "notifications": [
                    {**_READY, "idempotency_key": "ord-4521-ready-1"},
                    {
                        "user_id": "u_lisa",
                        "type": "ORDER_SHIPPED",
                        "template_id": "order_shipped",
                        "variables": {"order_id": "ORD-4522", "name": "Lisa"},
                        "idempotency_key": "ord-4522-shipped",
                    },
                ]
            },
        ),
    },
    "list_status_changes": {
        "minimal": Example(summary="The oldest changes that are kept", status=200),
        "usual": Example(
            summary="The changes since an instant",
            status=200,
            query={"since": "2026-11-20T00:00:00Z", "limit": 500},
        ),
    },
    "list_notifications": {
        "minimal": Example(summary="The latest notifications", status=200),
        "usual": Example(
            summary="Failed notifications of a recipient since November",
            status=200,
            query={
                "user_id": USER,
                "status": ["failed", "expired"],
                "since": "2026-11-01T00:00:00Z",
                "limit": 20,
            },
        ),
        "by_metadata": Example(
            summary="The notifications of one order",
            status=200,
            query={"metadata": "order_id:ORD-4521"},
        ),
    },
    "get_notification": {
        "minimal": Example(
            summary="A sent notification", status=200, path={"notification_id": NOTIFICATION}
        ),
        "scheduled": Example(
            summary="A scheduled notification", status=200, path={"notification_id": SCHEDULED}
        ),
    },
    "reschedule_notification": {
        "minimal": Example(
            summary="At nine in the morning, on the recipient's clock",
            status=200,
            path={"notification_id": SCHEDULED},
            body={"send_at_local": "09:00"},
        ),
        "instant": Example(
            summary="At an instant; an instant in the past means now",
            status=200,
            path={"notification_id": SCHEDULED},
            body={"scheduled_at": "2026-11-01T18:30:00Z"},
        ),
    },
    "cancel_notification": {
        "minimal": Example(
            summary="Cancel a notification", status=200, path={"notification_id": SCHEDULED}
        ),
        "usual": Example(
            summary="With an idempotency key",
            status=200,
            path={"notification_id": SCHEDULED},
            headers={"Idempotency-Key": "cancel-ord-4521"},
        ),
    },
    "withdraw_notification": {
        "minimal": Example(
            summary="Withdraw a notification", status=202, path={"notification_id": SCHEDULED}
        ),
        "usual": Example(
            summary="With an idempotency key",
            status=202,
            path={"notification_id": SCHEDULED},
            headers={"Idempotency-Key": "withdraw-ord-4521"},
        ),
    },
}

KEYS: Final[Examples] = {
    "get_me": {
        "minimal": Example(summary="With a live key", status=200),
        "test": Example(summary="With a test key", status=200, mode=Mode.TEST),
    },
}

_SIGNATURE: Final = {
    "webhook-id": "msg_1",
    "webhook-timestamp": "1793000000",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
}

_APP: Final = {"Authorization": f"Bearer {CLIENT_TOKEN}"}

RECEIPTS: Final[Examples] = {
    "take_receipts": {
        "minimal": Example(
            summary="The sandbox reports a delivered message",
            status=200,
            path={"provider": "sandbox"},
            headers=_SIGNATURE,
            mode=None,
            body={
                "receipts": [
                    {
                        "kind": "delivered",
                        "delivery_id": DELIVERY,
                        "message_id": "sbx-1",
                        "occurred_at": "2026-11-01T18:30:00Z",
                    }
                ]
            },
        ),
        "nothing": Example(
            summary="The sandbox sends an empty callback",
            status=200,
            path={"provider": "sandbox"},
            headers=_SIGNATURE,
            mode=None,
            body={"receipts": []},
        ),
    },
    "take_client_receipts": {
        "minimal": Example(
            summary="The app got a message",
            status=200,
            headers=_APP,
            mode=None,
            body={"receipts": [{"delivery_id": DELIVERY, "kind": "received"}]},
        ),
        "usual": Example(
            summary="Two events of one message, kept while the device was offline",
            status=200,
            headers=_APP,
            mode=None,
            body={
                "receipts": [
                    {
                        "notification_id": NOTIFICATION,
                        "kind": "received",
                        "occurred_at": "2026-11-01T18:30:00Z",
                    },
                    {
                        "notification_id": NOTIFICATION,
                        "kind": "clicked",
                        "occurred_at": "2026-11-01T18:31:07Z",
                    },
                ]
            },
        ),
    },
}
