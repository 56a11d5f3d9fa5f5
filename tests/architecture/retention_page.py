"""Writes the table of docs/retention.md: python -m tests.architecture.retention_page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import django

from notifications.core import feature
from notifications.core.rules.row_retention import RowRetention
from notifications.core.store.postgres import row_retention
from notifyproj.environment import Environment

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "retention.md"
_BEGIN: Final = "<!-- rows by age -->\n"
_END: Final = "<!-- end of rows by age -->"
_SETTINGS: Final = {"audit_kept": "audit_days"}
"""Field of `conf.Conf` -> field of the settings."""


def text(page: str) -> str:
    """Return the page with a new table."""
    before, _, rest = page.partition(_BEGIN)
    lines = ["| table | column | age |", "| --- | --- | --- |", *_lines()]
    return before + _BEGIN + "\n".join(lines) + "\n" + rest[rest.index(_END) :]


def _lines() -> Iterator[str]:
    of_features = [kept for each in feature.all_features() for kept in each.retentions]
    for kept in sorted([*row_retention.RETENTIONS, *of_features], key=lambda each: each.table):
        yield f"| `{kept.table}` | `{kept.column}` | {_age(kept)} |"


def _age(kept: RowRetention) -> str:
    if kept.setting:
        return f"`{Environment.model_fields[_SETTINGS[kept.setting]].alias}`"
    if not kept.age:
        return "at the instant"
    hours = kept.age // dt.timedelta(hours=1)
    return f"{hours // 24} days" if hours % 24 == 0 else f"{hours} hours"


if __name__ == "__main__":
    django.setup()
    PAGE.write_text(text(PAGE.read_text()))
