"""Codes as data: the vendor's table, an operator's changes, and the outcome of each verdict."""

from __future__ import annotations

from datetime import timedelta

import pytest

from providers import verdicts
from providers.contract import (
    Misconfigured,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.refused_parts import RefusedPart
from providers.verdicts import Verdict

WAIT = timedelta(seconds=9)

OUTCOMES: dict[Verdict, Outcome] = {
    Verdict.REJECTED: Rejected(code="7", detail="why"),
    Verdict.REJECTED_HERE: Rejected(code="7", detail="why", another_provider_may_accept=True),
    Verdict.REJECTED_OR_MISCONFIGURED: Rejected(
        code="7", detail="why", may_be_misconfigured=True, another_provider_may_accept=True
    ),
    Verdict.DEAD: Rejected(code="7", detail="why", contact_is_dead=True),
    Verdict.DEAD_OR_MISCONFIGURED: Rejected(
        code="7", detail="why", contact_is_dead=True, may_be_misconfigured=True
    ),
    Verdict.SENDER_REFUSED: Misconfigured(code="7", detail="why", refused_part=RefusedPart.SENDER),
    Verdict.TEMPLATE_REFUSED: Rejected(
        code="7",
        detail="why",
        another_provider_may_accept=True,
        refused_part=RefusedPart.TEMPLATE,
    ),
    Verdict.IN_SANDBOX: Rejected(
        code="7",
        detail="why",
        another_provider_may_accept=True,
        refused_part=RefusedPart.SANDBOX,
    ),
    Verdict.OPTED_OUT: Rejected(code="7", detail="why", has_opted_out=True),
    Verdict.THROTTLED: Throttled(code="7", detail="why", retry_after=WAIT),
    Verdict.UNAVAILABLE: Unavailable(code="7", detail="why", retry_after=WAIT),
    Verdict.MISCONFIGURED: Misconfigured(code="7", detail="why"),
    Verdict.UNANSWERED: Unanswered(code="7", detail="why"),
}


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_its_outcome(verdict: Verdict) -> None:
    made = verdicts.outcome(verdict, code="7", detail="why", retry_after=WAIT)
    assert made == OUTCOMES[verdict]


def test_an_operators_line_wins_over_the_vendors_table() -> None:
    table = {"1": Verdict.REJECTED, "2": Verdict.THROTTLED}
    changed = verdicts.overrides("1=dead, 3=unavailable")
    assert [verdicts.look_up(code, table, changed) for code in "1234"] == [
        Verdict.DEAD,
        Verdict.THROTTLED,
        Verdict.UNAVAILABLE,
        None,
    ]


@pytest.mark.parametrize("text", ["30003", "30003=gone", "1=dead,", "=Dead"])
def test_a_malformed_line_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="write code=verdict, verdict one of rejected, "):
        verdicts.overrides(text)
