"""Writes `docs/access.md` from the code: `python -m tests.architecture.access_page`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from notifications.rules.access import TABLE, Entry, Rule, Scope
from notifications.rules.lane import Mode

PAGE: Final = Path(__file__).parents[2] / "docs" / "access.md"


def text() -> str:
    """The page as it has to be."""
    return "\n".join([
        "# Who may do what",
        "",
        "This page is generated from `notifications/rules/access.py` by",
        "`python -m tests.architecture.access_page`. The API checks each request by the table.",
        "",
        "## Scopes of API keys",
        "",
        "`manage.py create_key` gives `notifications:*` unless `--scopes` names others.",
        "",
        "| scope | meaning |",
        "| --- | --- |",
        *(f"| `{each}` | {each.sentence} |" for each in Scope),
        "",
        "## Operations",
        "",
        "A word behind a path names a part of the body that needs a further scope. The right is",
        "what an operator needs for the same act in the admin.",
        "",
        "| operation | needs | live key | test key | right in the admin |",
        "| --- | --- | --- | --- | --- |",
        *map(_line, TABLE),
        "",
    ])


def _line(rule: Rule) -> str:
    live, test = ("yes" if mode in rule.modes else "no" for mode in (Mode.LIVE, Mode.TEST))
    needs = rule.needs if isinstance(rule.needs, Entry) else f"`{rule.needs}`"
    if isinstance(rule.needs, Entry):
        live = test = ""
    right = f"`{rule.right}`" if rule.right else ""
    return f"| `{rule.operation}` | {needs} | {live} | {test} | {right} |"


if __name__ == "__main__":
    PAGE.write_text(text())
