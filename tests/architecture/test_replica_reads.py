"""The read replica serves figures, lists and exports alone."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[2]
_READERS: Final = {
    "notifications/core/admin/activity.py": "the rows of Activity and of its export",
    "notifications/core/admin/base.py": "lists with `reads_replica`",
    "notifications/core/admin/exports.py": "the rows of a CSV export",
    "notifications/core/admin/monitoring/scope.py": "the figures of the admin",
    "notifications/core/admin/own_writes.py": "the way of these pages to the replica",
    "notifications/features/analytics/api/analytics.py": "GET /v1/analytics",
    "notifications/features/money/admin/costs.py": "the page Costs",
    "notifications/features/money/api/costs.py": "GET /v1/costs",
}
"""Modules that read the replica. The answer of a further one must have no effect."""


def test_only_reads_without_an_effect_use_the_replica() -> None:
    found = {
        str(path.relative_to(_ROOT))
        for folder in ("notifications", "notifyproj")
        for path in (_ROOT / folder).rglob("*.py")
        if _reads_replica(path)
    }
    assert found == set(_READERS)


def _reads_replica(path: Path) -> bool:
    calls = (
        each.func for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call)
    )
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == "read"
        and isinstance(each.value, ast.Name)
        and each.value.id in {"replica", "own_writes"}
        for each in calls
    )
