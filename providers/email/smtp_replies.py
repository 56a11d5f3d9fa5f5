"""What an SMTP server's reply means for us, as one table.

Sources: RFC 5321 (reply codes), RFC 3463 (enhanced codes), RFC 4954 (authentication), and Amazon
SES's SMTP interface for 454 as "too fast". The first row that fits wins; a server may send any
code without notice, so the last rows catch whole classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, assert_never

from providers.contract import Misconfigured, Outcome, Rejected, Throttled, Unavailable


class Stage(Enum):
    """Which command was answered."""

    CONNECT = auto()
    """Greeting, STARTTLS and authentication."""
    SENDER = auto()
    RECIPIENT = auto()
    DATA = auto()
    """DATA itself, or the end of the content."""


class Verdict(Enum):
    """What to make of it."""

    TRY_AGAIN = auto()
    SLOW_DOWN = auto()
    REFUSED = auto()
    DEAD = auto()
    """The mailbox is gone: stop using it."""
    OUR_FAULT = auto()


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; empty fits all."""

    code: str
    """The three digits, or their beginning."""
    enhanced: str
    stage: Stage | None
    verdict: Verdict

    def fits(self, code: str, *, enhanced: str, stage: Stage) -> bool:
        """Tell whether a reply is meant by this row."""
        return (
            code.startswith(self.code)
            and self.enhanced in {"", enhanced}
            and self.stage in {None, stage}
        )


TABLE: Final = (
    Row("530", "", None, Verdict.OUR_FAULT),  # authentication required
    Row("534", "", None, Verdict.OUR_FAULT),  # mechanism too weak
    Row("535", "", None, Verdict.OUR_FAULT),  # wrong user or password
    Row("538", "", None, Verdict.OUR_FAULT),  # encryption required
    Row("454", "4.7.0", Stage.CONNECT, Verdict.TRY_AGAIN),  # TLS or authentication not now
    Row("454", "", None, Verdict.SLOW_DOWN),
    Row("4", "4.7.28", None, Verdict.SLOW_DOWN),  # flood from us
    Row("4", "", None, Verdict.TRY_AGAIN),  # 421 closing, 450 and 451 greylisted, 452 full
    Row("5", "5.2.2", None, Verdict.TRY_AGAIN),  # mailbox full: people tidy up
    Row("5", "5.1.1", Stage.RECIPIENT, Verdict.DEAD),  # no such mailbox
    Row("5", "5.1.2", Stage.RECIPIENT, Verdict.DEAD),  # no such domain
    Row("5", "5.1.6", Stage.RECIPIENT, Verdict.DEAD),  # moved, without a new address
    Row("5", "5.1.10", Stage.RECIPIENT, Verdict.DEAD),  # the domain takes no mail
    Row("5", "5.2.1", Stage.RECIPIENT, Verdict.DEAD),  # mailbox disabled
    Row("552", "", None, Verdict.REFUSED),  # too big
    Row("5", "5.3.4", None, Verdict.REFUSED),  # too big
    Row("5", "", Stage.CONNECT, Verdict.OUR_FAULT),  # we are not welcome there at all
    Row("5", "", Stage.SENDER, Verdict.OUR_FAULT),  # our From is not allowed
    Row("5", "", None, Verdict.REFUSED),  # 550 without details, 554 5.7.1 policy or content
)

_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?=\s|$)")
_DETAIL_LIMIT: Final = 200


def outcome_of(code: int, text: bytes, *, stage: Stage, hide: str = "") -> Outcome:
    """Judge a reply that is no success; `hide` is the address, kept out of the detail."""
    reply = " ".join(text.decode(errors="replace").split())
    if hide:
        reply = reply.replace(hide, "[address]")
    match = _ENHANCED.match(reply)
    enhanced = match.group() if match else ""
    verdict = _verdict(str(code), enhanced=enhanced, stage=stage)
    label = f"{code} {enhanced}".strip()
    detail = reply[:_DETAIL_LIMIT]
    match verdict:
        case Verdict.TRY_AGAIN:
            return Unavailable(code=label, detail=detail)
        case Verdict.SLOW_DOWN:
            return Throttled(code=label, detail=detail)
        case Verdict.REFUSED:
            return Rejected(code=label, detail=detail)
        case Verdict.DEAD:
            return Rejected(code=label, detail=detail, contact_is_dead=True)
        case Verdict.OUR_FAULT:
            return Misconfigured(code=label, detail=detail)
        case _:
            assert_never(verdict)


def _verdict(code: str, *, enhanced: str, stage: Stage) -> Verdict:
    for row in TABLE:
        if row.fits(code, enhanced=enhanced, stage=stage):
            return row.verdict
    return Verdict.TRY_AGAIN  # 1xx to 3xx where none belongs: a broken server, perhaps for a moment
