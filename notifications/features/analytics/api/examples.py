"""Examples of the operation on figures for the OpenAPI document."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import Example, Examples

TAGS: Final[dict[str, str]] = {}
PATH_PARAMETERS: Final[dict[str, str]] = {}
EXAMPLES: Final[Examples] = {
    "get_analytics": {
        "minimal": Example(
            summary="Sent deliveries of the last day, by hour",
            status=200,
            query={"metric": "sent"},
        ),
        "usual": Example(
            summary="The p95 from acceptance to arrival of P1 SMS, for each provider",
            status=200,
            query={
                "metric": "accept_to_delivered_p95",
                "by": "provider",
                "step": "total",
                "channel": "sms",
                "priority": "P1",
            },
        ),
        "csv": Example(
            summary="Failures by reason as a CSV file",
            status=200,
            query={"metric": "failed", "by": ["channel", "reason"], "format": "csv"},
        ),
    },
}
