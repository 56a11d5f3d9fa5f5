"""Addresses of contacts: accepted formats and stored form.

The API, the `to` of a message and the admin's form share the rule, so that every stored address is
usable for an adapter.
"""

from __future__ import annotations

from notifications.core.rules import addresses
from notifications.core.rules.suppression import size_fault
from providers.contract import Channel
from providers.errors import ForbiddenAddress
from providers.transport.guard import AddressPolicy


def normalize(channel: Channel, address: str) -> str:
    """Return the stored form of a channel's address.

    Raises:
        ValueError: the address is invalid; the message names the fault without the address.
    """
    if fault := size_fault(address):
        msg = f"address {fault}"
        raise ValueError(msg)
    try:
        stored = addresses.normal_form(channel, address)
    except ValueError as error:
        said = str(error)
        raise ValueError(f"address {said}" if said.startswith("must ") else said) from None
    if not stored:
        raise ValueError("address must have a character that can be seen")
    if channel is Channel.WEBHOOK:
        _check_url(stored)
    return stored


def kind_of(channel: Channel, address: str, given: str) -> str:
    """Return the kind of a contact with an address in the stored form.

    Raises:
        ValueError: the address has not the form of the given kind.
    """
    try:
        return addresses.kind_of(channel, address, given)
    except ValueError as error:
        raise ValueError(f"address {error}") from None


def _check_url(url: str) -> None:
    try:
        AddressPolicy().check_url(url)
    except ForbiddenAddress as error:
        raise ValueError(str(error)) from error
