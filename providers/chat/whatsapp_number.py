"""Addresses on WhatsApp: `whatsapp:+4915112345678`, as Twilio writes them.

The prefix tells such a contact on the channel chat from an Apprise URL, such as `slack://...`.
"""

from __future__ import annotations

from typing import Final

KIND: Final = "whatsapp"
"""Kind of a contact with such an address."""

PREFIX: Final = "whatsapp:"


def is_number(address: str) -> bool:
    """Return True for an address on WhatsApp, with a valid number or not."""
    is_url = address.startswith("//", len(PREFIX))
    return address[: len(PREFIX)].lower() == PREFIX and not is_url


def digits(address: str) -> str:
    """Return the number of an address without prefix and plus, as Meta writes numbers."""
    return address.removeprefix(PREFIX).removeprefix("+")
