"""A vendor's codes as data: code -> Verdict -> Outcome, with lines that an operator may override.

Vendors split and change their codes; the table in the vendor's module follows the documents of
a past date. `NOTIFY_<VENDOR>_CODES` changes lines of the table without a release:

    NOTIFY_TWILIO_CODES="30003=unavailable, 21614=dead"

    TABLE: Final = {"21610": Verdict.OPTED_OUT, "20429": Verdict.THROTTLED, ...}
    verdict = verdicts.look_up(code, TABLE, config.codes)    # None: the vendor's default applies
    outcome = verdicts.outcome(verdict, code=code, detail=detail, retry_after=reply.retry_after)
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from providers.contract import (
    Misconfigured,
    Outcome,
    Rejected,
    Throttled,
    Unanswered,
    Unavailable,
)
from providers.refused_parts import RefusedPart


class Verdict(StrEnum):
    """Meaning of a code for the caller; `contract` defines the effect of each Outcome."""

    REJECTED = "rejected"
    """No provider would accept this message."""
    REJECTED_HERE = "rejected_here"
    """The refusal is specific to the provider; the next provider of the delivery is asked."""
    REJECTED_OR_MISCONFIGURED = "rejected_or_misconfigured"
    """Rejected here: the account lacks a feature for the kind of address. Other addresses work."""
    DEAD = "dead"
    """Rejected, and the address is gone: the address is never used again."""
    DEAD_OR_MISCONFIGURED = "dead_or_misconfigured"
    """Dead for a single address with the answer, a wrong local setting for many addresses."""
    SENDER_REFUSED = "sender_refused"
    """The account may not send from the sender: misconfigured if the sender is the provider's
    setting, else rejected here. No circuit breaker counts the rejection."""
    TEMPLATE_REFUSED = "template_refused"
    """Rejected here for the vendor's template; no circuit breaker counts the rejection."""
    IN_SANDBOX = "in_sandbox"
    """Rejected here, because the account is in the vendor's sandbox or a trial and the address is
    not on its list; no circuit breaker counts the rejection."""
    OPTED_OUT = "opted_out"
    """Rejected: the recipient ended messages, and can begin them again."""
    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    MISCONFIGURED = "misconfigured"
    UNANSWERED = "unanswered"
    """The vendor does not know if the message was sent."""

    @property
    def is_rejection(self) -> bool:
        """Return True if the outcome is Rejected."""
        return self in _REJECTIONS

    @property
    def is_dead(self) -> bool:
        """Return True if the address must not be used again."""
        return self in _DEAD


_DEAD: Final = frozenset({Verdict.DEAD, Verdict.DEAD_OR_MISCONFIGURED})
_PARTS: Final = {
    Verdict.SENDER_REFUSED: RefusedPart.SENDER,
    Verdict.TEMPLATE_REFUSED: RefusedPart.TEMPLATE,
    Verdict.IN_SANDBOX: RefusedPart.SANDBOX,
}
_HERE: Final = frozenset({
    Verdict.REJECTED_HERE,
    Verdict.REJECTED_OR_MISCONFIGURED,
    Verdict.TEMPLATE_REFUSED,
    Verdict.IN_SANDBOX,
})
_AMBIGUOUS: Final = frozenset({Verdict.DEAD_OR_MISCONFIGURED, Verdict.REJECTED_OR_MISCONFIGURED})
_REJECTIONS: Final = _DEAD | _HERE | {Verdict.REJECTED, Verdict.OPTED_OUT}

Table = Mapping[str, Verdict]


def look_up(code: str, table: Table, overrides: Table) -> Verdict | None:
    """Return a code's verdict: the operator's line, else the vendor's table; None: unknown."""
    return overrides.get(code) or table.get(code)


def outcome(
    verdict: Verdict, *, code: str, detail: str, retry_after: timedelta | None = None
) -> Outcome:
    """Return the outcome of a verdict. `detail` holds no address and no text."""
    match verdict:
        case Verdict.THROTTLED:
            return Throttled(code=code, detail=detail, retry_after=retry_after)
        case Verdict.UNAVAILABLE:
            return Unavailable(code=code, detail=detail, retry_after=retry_after)
        case Verdict.MISCONFIGURED:
            return Misconfigured(code=code, detail=detail)
        case Verdict.SENDER_REFUSED:
            return Misconfigured(code=code, detail=detail, refused_part=RefusedPart.SENDER)
        case Verdict.UNANSWERED:
            return Unanswered(code=code, detail=detail)
        case _:
            return Rejected(
                code=code,
                detail=detail,
                contact_is_dead=verdict.is_dead,
                has_opted_out=verdict is Verdict.OPTED_OUT,
                may_be_misconfigured=verdict in _AMBIGUOUS,
                another_provider_may_accept=verdict in _HERE,
                refused_part=_PARTS.get(verdict, RefusedPart.NONE),
            )


def overrides(text: str) -> Table:
    """Read `code=verdict` pairs, separated by commas: the reader of a Config's `codes` field.

    Raises:
        ValueError: a part has no `=`, or names no verdict.
    """
    pairs = {}
    for part in text.split(","):
        code, equals, name = part.strip().partition("=")
        if not equals or name not in set(Verdict):
            raise ValueError(f"write code=verdict, verdict one of {', '.join(Verdict)}")
        pairs[code] = Verdict(name)
    return pairs
