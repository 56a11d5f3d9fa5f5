"""Examples of the creation and the list of notifications."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import (
    TEMPLATE,
    USER,
    Example,
    Examples,
)

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
}
