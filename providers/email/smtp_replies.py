"""Table of SMTP replies and their outcomes.

Sources: RFC 5321 (reply codes), RFC 3463 (enhanced codes), RFC 4954 (authentication), and Amazon
SES's SMTP interface for 454 as "too fast". The first row that fits wins; a server may send any
code without notice, so the last rows catch whole classes.

A server without permission to relay, or to use the From, refuses the first recipient:
Exim always, Postfix by its default `smtpd_delay_reject`. Of these refusals 5.7.1 and 550 are also
used for a single recipient, so their words decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from providers import graphemes, verdicts
from providers.contract import Outcome
from providers.verdicts import Verdict


class Stage(Enum):
    """The command of the reply."""

    CONNECT = auto()
    """Greeting, STARTTLS and authentication."""
    RESET = auto()
    """RSET, before the next message of a kept connection."""
    SENDER = auto()
    RECIPIENT = auto()
    DATA = auto()
    CONTENT = auto()
    """The final dot: after the dot a server may have taken the message."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; an empty field fits all replies."""

    code: str
    """The three digits, or the first digits."""
    enhanced: str
    """The enhanced code; a value that ends with a dot covers all codes with the beginning."""
    stage: Stage | None
    verdict: Verdict
    words: re.Pattern[str] | None = None
    """Words of the reply, before the words of another server that the reply quotes."""

    def fits(self, code: str, *, enhanced: str, stage: Stage, reply: str) -> bool:
        """Return True if the row fits a reply."""
        return (
            code.startswith(self.code)
            and (enhanced == self.enhanced or self._is_beginning_of(enhanced))
            and self.stage in {None, stage}
            and (self.words is None or self.words.search(_QUOTE.split(reply)[0]) is not None)
        )

    def _is_beginning_of(self, enhanced: str) -> bool:
        return self.enhanced[-1:] in {"", "."} and enhanced.startswith(self.enhanced)


_ACCOUNT: Final = re.compile(
    r"\brelay(?:ing)?(?: access)? (?:(?:is |was )?not|denied|prohibited|forbidden)|\bto relay\b"
    r"|allowed rcpthosts",
    re.IGNORECASE,
)
"""Exim, Postfix, Sendmail, Exchange and qmail to a client that may not relay."""
_SENDER: Final = re.compile(r"sender address rejected|sender verify failed", re.IGNORECASE)
"""Postfix and Exim to a client that may not use its From."""
_IN_SANDBOX: Final = re.compile(r"Email address is not verified[^@]*\[address\][^@]*$")
_NOT_VERIFIED: Final = re.compile(r"Email address is not verified")
"""Amazon SES lists the addresses: the From, or only the To of an account in its sandbox. Source:
the SES Developer Guide, "Amazon SES email sending errors"."""
_QUOTE: Final = re.compile(r" (?:said|response): ", re.IGNORECASE)

TABLE: Final = (
    Row("530", "", None, Verdict.MISCONFIGURED),  # authentication required
    Row("534", "", None, Verdict.MISCONFIGURED),  # mechanism too weak
    Row("535", "", None, Verdict.MISCONFIGURED),  # wrong user or password
    Row("538", "", None, Verdict.MISCONFIGURED),  # encryption required
    Row("454", "4.7.0", Stage.CONNECT, Verdict.UNAVAILABLE),  # TLS or authentication not now
    Row("454", "", None, Verdict.THROTTLED),
    Row("4", "4.7.28", None, Verdict.THROTTLED),  # too many mails from the client
    Row("4", "", None, Verdict.UNAVAILABLE),  # 421 closing, 450 and 451 greylisted, 452 full
    Row("5", "5.2.2", None, Verdict.UNAVAILABLE),  # mailbox full: people tidy up
    Row("5", "5.1.1", Stage.RECIPIENT, Verdict.DEAD),  # no such mailbox
    Row("5", "5.1.2", Stage.RECIPIENT, Verdict.DEAD),  # no such domain
    Row("5", "5.1.6", Stage.RECIPIENT, Verdict.DEAD),  # moved, without a new address
    Row("5", "5.1.10", Stage.RECIPIENT, Verdict.DEAD),  # the domain takes no mail
    Row("5", "5.2.1", Stage.RECIPIENT, Verdict.DEAD),  # mailbox disabled
    Row("5", "5.1.7", None, Verdict.SENDER_REFUSED),  # the sender's address is malformed
    Row("5", "5.1.8", None, Verdict.SENDER_REFUSED),  # the sender's domain or account is refused
    Row("5", "5.7.54", None, Verdict.MISCONFIGURED),  # Exchange: unable to relay
    Row("5", "5.7.60", None, Verdict.SENDER_REFUSED),  # Exchange: no right to send as this sender
    Row("5", "5.7.64", None, Verdict.MISCONFIGURED),  # Exchange Online: relay access denied
    Row("5", "", Stage.RECIPIENT, Verdict.SENDER_REFUSED, words=_SENDER),
    Row("5", "", Stage.RECIPIENT, Verdict.MISCONFIGURED, words=_ACCOUNT),
    Row("554", "", Stage.CONTENT, Verdict.IN_SANDBOX, words=_IN_SANDBOX),
    Row("554", "", Stage.CONTENT, Verdict.SENDER_REFUSED, words=_NOT_VERIFIED),
    Row("552", "", None, Verdict.REJECTED),  # too big
    Row("5", "5.3.4", None, Verdict.REJECTED),  # too big
    Row("5", "", Stage.CONNECT, Verdict.MISCONFIGURED),  # the server refuses the client
    # At MAIL FROM: 501, 550 and 553 refuse the From address, other replies our client or account.
    Row("5", "", Stage.SENDER, Verdict.MISCONFIGURED, words=_ACCOUNT),
    Row("5", "", Stage.SENDER, Verdict.SENDER_REFUSED, words=_SENDER),
    Row("5", "5.4.", Stage.SENDER, Verdict.MISCONFIGURED),  # routing, a quota
    Row("5", "5.5.", Stage.SENDER, Verdict.MISCONFIGURED),  # the protocol, such as no AUTH
    Row("501", "", Stage.SENDER, Verdict.SENDER_REFUSED),
    Row("550", "", Stage.SENDER, Verdict.SENDER_REFUSED),
    Row("553", "", Stage.SENDER, Verdict.SENDER_REFUSED),
    Row("5", "", Stage.SENDER, Verdict.MISCONFIGURED),
    Row("5", "5.7.", None, Verdict.REJECTED_HERE),  # policy, spam block: RFC 3463, 3.8
    Row("554", "", Stage.CONTENT, Verdict.REJECTED_HERE),  # "transaction failed": content or policy
    Row("5", "", None, Verdict.REJECTED),  # 550 without details
    # Neither yes nor no: after the final dot the server may have taken the message.
    Row("", "", Stage.CONTENT, Verdict.UNANSWERED),
)

_ENHANCED: Final = re.compile(r"[245]\.\d{1,3}\.\d{1,3}(?=\s|$)")
_DETAIL_LIMIT: Final = 200


def outcome_of(code: int, text: bytes, *, stage: Stage, hide: str = "") -> Outcome:
    """Judge a reply that is no success; `hide` is the address, removed from the detail."""
    reply = " ".join(text.decode(errors="replace").split())
    if hide:
        reply = reply.replace(hide, "[address]")
    match = _ENHANCED.match(reply)
    enhanced = match.group() if match else ""
    verdict = _verdict(str(code), enhanced=enhanced, stage=stage, reply=reply)
    label = f"{code} {enhanced}".strip()
    return verdicts.outcome(verdict, code=label, detail=graphemes.cut(reply, _DETAIL_LIMIT))


def _verdict(code: str, *, enhanced: str, stage: Stage, reply: str) -> Verdict:
    for row in TABLE:
        if row.fits(code, enhanced=enhanced, stage=stage, reply=reply):
            return row.verdict
    return (
        Verdict.UNAVAILABLE
    )  # 1xx to 3xx where none belongs: a broken server, perhaps for a moment
