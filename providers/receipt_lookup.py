"""Receipts that a vendor keeps until somebody asks, in place of a callback (Expo).

The service stores the message id of each accepted call, and asks `Lookup.after` later. A vendor
that makes a callback needs none of this: see `providers.contract.Provider.parse_receipt`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from providers.contract import Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """The times and the limit of a vendor's receipts."""

    after: timedelta
    """Time from the call to the first question, and between two questions about a message."""
    kept: timedelta
    """Time from the call for which the vendor keeps the receipt."""
    per_call: int
    """Largest number of message ids in a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The vendor's answer to a question."""

    known: frozenset[str] = frozenset()
    """The message ids with a receipt; nobody has to ask about them again."""
    receipts: Sequence[Receipt] = ()
    """Receipts of known messages, with their message ids. A receipt without news is left out."""
    fault: str = ""
    """Code of the cause without a readable answer; empty after an answer."""


@runtime_checkable
class LooksUpReceipts(Protocol):
    """A provider whose vendor keeps receipts until somebody asks."""

    lookup: Lookup

    def look_up_receipts(self, message_ids: Sequence[str], *, deadline: timedelta) -> Answer:
        """Ask the vendor about at most `Lookup.per_call` messages. Raises nothing."""
