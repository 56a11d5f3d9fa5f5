"""Bulk jobs of the scenarios."""

from __future__ import annotations

from tests.scenarios.world import World


def start(world: World, people: list[str], **fields: object) -> str:
    """Create a bulk job of order mails; return the id of the job."""
    body = {
        "name": "Orders",
        "audience": {"user_ids": people},
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "template_id": "order_shipped",
        "variables": {"order_id": "ORD-1"},
        "channels": ["email"],
        **fields,
    }
    made: str = world.service("marketing").ask("POST", "/v1/bulk-jobs", body).body["id"]
    return made
