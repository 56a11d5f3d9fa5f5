"""The allow list of a staging environment (NOTIFY_ALLOWED_RECIPIENTS).

u_789012              a user, on every channel maria@example.com     an address, whatever the
channel @example.com          every mailbox of a domain +4930                 every number with this
beginning
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

_NUMBER: Final = re.compile(r"\+[1-9]\d{0,14}")
_DOMAIN: Final = re.compile(r"@[\w-]+(\.[\w-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowList:
    """Recipients and addresses to which messages may be sent."""

    exact: frozenset[str]
    """User ids and addresses as written."""
    mailboxes: frozenset[str]
    """In lower case, like the domains."""
    domains: tuple[str, ...]
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Read a list.

        Raises:
            ValueError: an entry begins like a number or a domain and is none. The message names its
                place,
                because the entry may be personal.
        """
        exact, domains, numbers = [], [], []
        for place, entry in enumerate(entries, start=1):
            if entry.startswith("+"):
                _require(
                    _NUMBER,
                    entry,
                    f"entry {place} is an invalid beginning of a number; use a form such as +4930",
                )
                numbers.append(entry)
            elif entry.startswith("@"):
                _require(
                    _DOMAIN,
                    entry,
                    f"entry {place} is an invalid domain; use a form such as @example.com",
                )
                domains.append(entry.lower())
            else:
                exact.append(entry)
        return cls(
            exact=frozenset(exact),
            mailboxes=frozenset(each.lower() for each in exact if "@" in each),
            domains=tuple(domains),
            numbers=tuple(numbers),
        )

    def allows(self, *, user_id: str, address: str) -> bool:
        """Return True if a message may be sent to the user at the address."""
        mailbox = address.lower()
        return (
            not self.exact.isdisjoint((user_id, address))
            or address.startswith(self.numbers)
            or mailbox.endswith(self.domains)
            or mailbox in self.mailboxes
        )


def _require(pattern: re.Pattern[str], entry: str, problem: str) -> None:
    if not pattern.fullmatch(entry):
        raise ValueError(problem)
