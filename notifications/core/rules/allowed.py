"""The allow list of a staging environment (NOTIFY_ALLOWED_RECIPIENTS).

u_789012              a user, on every channel
maria@example.com     an address, in any spelling, on every channel
@example.com          every mailbox of a domain
+4930                 every number with this beginning, on WhatsApp too
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from notifications.core.rules import addresses
from providers import mailboxes
from providers.chat import whatsapp_number
from providers.contract import Channel

_NUMBER: Final = re.compile(r"\+[1-9]\d{0,14}")
_DOMAIN: Final = re.compile(r"@[\w-]+(\.[\w-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowList:
    """Recipients and addresses to which messages may be sent."""

    exact: frozenset[str]
    """User ids and addresses as written."""
    mailboxes: frozenset[str]
    """By key (`rules.addresses`); domains are in ASCII and in lower case."""
    domains: tuple[str, ...]
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Read a list.

        Raises:
            ValueError: an entry begins like a number or a domain and is none. The message names its
                place, because the entry may be personal.
        """
        exact, domains, numbers = [], [], []
        for place, written in enumerate(entries, start=1):
            entry = addresses.clean(Channel.EMAIL, written)
            if entry.startswith("+"):
                entry = addresses.usable_form(Channel.SMS, entry)
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
                domains.append(_ascii(entry))
            else:
                exact.append(entry)
        return cls(
            exact=frozenset(exact),
            mailboxes=frozenset(
                addresses.search_key(Channel.EMAIL, each) for each in exact if "@" in each
            ),
            domains=tuple(domains),
            numbers=tuple(numbers),
        )

    def allows(self, *, user_id: str, address: str) -> bool:
        """Return True if a message may be sent to the user at the address."""
        mailbox = addresses.key(Channel.EMAIL, address)
        number = address.removeprefix(whatsapp_number.PREFIX)
        return (
            not self.exact.isdisjoint((user_id, address))
            or addresses.key(Channel.SMS, number).startswith(self.numbers)
            or mailbox.endswith(self.domains)
            or mailbox in self.mailboxes
        )


def _ascii(domain: str) -> str:
    """Return `@domain` in the form of addresses; any other text in lower case, without a match."""
    try:
        return "@" + mailboxes.ascii_domain(domain.removeprefix("@"))
    except mailboxes.MalformedAddress:
        return domain.lower()


def _require(pattern: re.Pattern[str], entry: str, problem: str) -> None:
    if not pattern.fullmatch(entry):
        raise ValueError(problem)
