"""The table of reactions: sent deliveries, cost and reactions by the values of a dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from notifications.core.admin.monitoring import words
from notifications.core.admin.monitoring.group_names import GroupNames
from notifications.core.admin.monitoring.scope import Scope
from notifications.core.admin.monitoring.tables import FAILURES
from notifications.core.rules.rollups import Dimension

TEMPLATE: Final = "analytics/parts/reactions.html"
_ROWS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionRow:
    """Sent deliveries, cost and reactions of one value of a dimension."""

    name: str
    url: str
    sent: str
    delivered: str
    """Number and share of the sent deliveries, as `read` and `clicked`."""
    read: str
    clicked: str
    failed: str
    cost: str


def table(scope: Scope, dimension: Dimension, names: GroupNames) -> list[ReactionRow]:
    """Return the values of a dimension with the most sent deliveries."""
    metrics = ("sent", "delivered", "read", "clicked", "cost")
    found = {metric: scope.totals(metric, dimension) for metric in metrics}
    found["failed"] = scope.sums(FAILURES, dimension)
    keys = dict.fromkeys([*found["sent"], *found["failed"]])
    busy = [key for key in keys if found["sent"].get(key) or found["failed"].get(key)]
    rows = []
    for key in busy[:_ROWS]:
        counts = {metric: totals.get(key, 0) for metric, totals in found.items()}
        sent = counts["sent"]
        rows.append(
            ReactionRow(
                name=names.name(dimension, key[0]),
                url=names.url(dimension, key[0]),
                sent=words.number(sent),
                delivered=_share_of(counts["delivered"], sent),
                read=_share_of(counts["read"], sent),
                clicked=_share_of(counts["clicked"], sent),
                failed=words.number(counts["failed"]),
                cost=words.number(counts["cost"], "money"),
            )
        )
    return rows


def _share_of(part: float, whole: float) -> str:
    """Return a count and the share of a whole."""
    if not whole:
        return words.number(part)
    return f"{words.number(part)} ({part / whole:.0%})" if part else "0"
