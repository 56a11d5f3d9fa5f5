"""The contract of a vendor's account, for `manage.py connect`.

    findings()             facts and tasks for a person
    plan()                 the missing changes at the vendor; empty: the account is complete
    suppression_pages()    the vendor's suppressed addresses
    rate()                 the rate granted by the vendor

Every reading may run at any time. A `Change` may run twice: each change sets a wanted state, and
the plan after a change does not contain the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

from providers.contract import Channel, Finding, Pace

UNREADABLE: Final = (AttributeError, LookupError, TypeError, ValueError)
"""Errors of an SDK or an account that reads an answer of an unknown shape, such as HTML of a proxy.
"""


class ListedFor(StrEnum):
    """The vendor's reason for a suppressed address."""

    BOUNCE = "bounce"
    COMPLAINT = "complaint"
    OPT_OUT = "opt_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAddress:
    """An address of the vendor's suppression list or opt-out list."""

    channel: Channel
    address: str = field(repr=False)
    listed_for: ListedFor


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A missing part of the account, and the calls that add the part."""

    subject: str
    """`topic`, `subscription`, `webhook` ..."""
    detail: str
    """The change in the imperative; no secret, no address."""
    apply: Callable[[], None] = field(repr=False, compare=False)
    """Makes the change; raises CannotConnect."""


class CannotConnect(Exception):
    """The vendor refused or did not answer a call; the text has no secret and no address."""

    def __init__(self, subject: str, detail: str) -> None:
        super().__init__(f"{subject}: {detail}")
        self.subject, self.detail = subject, detail


class ConnectableAccount(Protocol):
    """A vendor's account. Every method raises CannotConnect if the vendor refuses a call."""

    def findings(self) -> Iterator[Finding]:
        """Yield the findings that `Provider.check` does not contain: sender, settings."""

    def plan(self) -> list[Change]:
        """Return the missing changes in the order of application, without a change."""

    def suppression_pages(self) -> Iterator[Sequence[ListedAddress]]:
        """Yield the pages of the vendor's suppression lists."""

    def rate(self) -> Pace | None:
        """Return the granted rate; None without a reported rate, or with a rate in the settings."""
