"""Writes the table of docs/settings.md: python -m tests.architecture.settings_page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic.fields import FieldInfo

from notifyproj.environment import Environment

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
_BEGIN: Final = "<!-- settings -->\n"
_END: Final = "<!-- end of settings -->"


def text(page: str) -> str:
    """Return the page with a new table."""
    before, _, rest = page.partition(_BEGIN)
    after = rest[rest.index(_END) :]
    lines = ["| variable | default | value |", "| --- | --- | --- |", *_lines()]
    return before + _BEGIN + "\n".join(lines) + "\n" + after


def _lines() -> Iterator[str]:
    fields = Environment.model_fields.values()
    for field in sorted(fields, key=lambda each: each.alias or ""):
        described = (field.description or "").replace("|", "\\|")
        yield f"| `{field.alias}` | {_default(field)} | {described} |"


def _default(field: FieldInfo) -> str:
    """Return a default that the environment could have; empty: none, or a list or table."""
    value = field.default
    if isinstance(value, bool):
        return "`yes`" if value else "`no`"
    if isinstance(value, int | float | str) and value != "":
        return f"`{value}`"
    return ""


if __name__ == "__main__":
    PAGE.write_text(text(PAGE.read_text()))
