"""Writes `docs/states.md` from the code: `python -m tests.architecture.states_page`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from notifications.core.rules.reasons import Reason
from notifications.core.rules.transitions import TRANSITIONS, Claims, Transition

PAGE: Final = Path(__file__).parents[2] / "docs" / "states.md"


def text() -> str:
    """The page as it has to be."""
    return "\n".join([
        "# Statuses of a delivery",
        "",
        "The first table has the reasons that the API, webhooks and admin show.",
        "The second has each change of a status.",
        "[Why is my message not there](message-not-there.md) has the usual cases.",
        "",
        "## Reasons",
        "",
        "| reason | meaning |",
        "| --- | --- |",
        *(f"| `{each}` | {each.sentence} |" for each in Reason),
        "",
        "## Transitions",
        "",
        "| transition | from | to | effects |",
        "| --- | --- | --- | --- |",
        *map(_transition, TRANSITIONS),
        "",
        "## Diagram",
        "",
        "```mermaid",
        picture(),
        "```",
        "",
        "This page is generated from `notifications/core/rules/transitions.py` and",
        "`notifications/core/rules/reasons.py` by `python -m tests.architecture.states_page`.",
        "",
    ])


def picture() -> str:
    """Draw the state machine as a Mermaid state diagram, one line per pair of statuses."""
    edges: dict[tuple[str, str], list[str]] = {}
    for each in TRANSITIONS:
        for source in sorted(each.sources | each.if_called):
            edges.setdefault((source.label, each.to.label), []).append(each.name)
    lines = [f"    {source} --> {to}: {', '.join(names)}" for (source, to), names in edges.items()]
    return "\n".join(["stateDiagram-v2", "    [*] --> scheduled", "    [*] --> queued", *lines])


def _transition(each: Transition) -> str:
    sources = ", ".join(status.label for status in sorted(each.sources))
    if each.if_called:
        called = ", ".join(status.label for status in sorted(each.if_called - each.sources))
        sources = f"{sources}; after a provider call also {called}"
    effects = [
        *(["spends no attempt"] if each.refunds_attempt else []),
        *(["spends the one resend"] if each.marks_resent else []),
        *(["leaves a dead letter"] if each.dead_letter else []),
        *(["closes an open dead letter"] if each.closes_letter else []),
        *(["keeps the count of claims"] if each.claims is Claims.KEEP else []),
        *(["takes the claim back from the count"] if each.claims is Claims.UNCOUNT else []),
    ]
    return f"| `{each.name}` | {sources} | {each.to.label} | {', '.join(effects)} |"


if __name__ == "__main__":
    PAGE.write_text(text())
