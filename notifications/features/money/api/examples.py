"""Facts of the OpenAPI document about budgets and costs, with examples."""

from __future__ import annotations

from typing import Final

from notifications.core.api.examples.shape import Example, Examples

TAGS: Final[dict[str, str]] = {}
PATH_PARAMETERS: Final[dict[str, str]] = {}
EXAMPLES: Final[Examples] = {
    "get_costs": {
        "minimal": Example(summary="The costs of the month by producer", status=200),
        "usual": Example(
            summary="The bulk jobs of the month by cost, as a CSV file",
            status=200,
            query={"by": "bulk_job", "format": "csv"},
        ),
    },
    "list_budgets": {
        "minimal": Example(summary="The budgets with the money of the day", status=200),
        "usual": Example(summary="Ten budgets", status=200, query={"limit": 10}),
    },
}
