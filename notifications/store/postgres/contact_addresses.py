"""Addresses of contacts: accepted formats and stored form.

The API and the admin's form share the rule, so that every stored address is usable for an adapter.
"""

from __future__ import annotations

from typing import assert_never

from notifications.rules import phone
from notifications.rules.suppression import size_fault
from providers import mailboxes
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
    match channel:
        case Channel.SMS:
            return phone.e164(address)
        case Channel.EMAIL:
            return _mailbox(address)
        case Channel.WEBHOOK:
            return _url(address)
        case Channel.PUSH | Channel.IN_APP | Channel.CHAT:
            return _printable(address)
        case _:
            assert_never(channel)


def _mailbox(address: str) -> str:
    try:
        return mailboxes.check(address)
    except mailboxes.MalformedAddress as error:
        msg = f"address {error}"
        raise ValueError(msg) from None


def _url(url: str) -> str:
    try:
        AddressPolicy().check_url(url)
    except ForbiddenAddress as error:
        raise ValueError(str(error)) from error
    return url


def _printable(address: str) -> str:
    if not address.isprintable():
        msg = "address must be free of control characters"
        raise ValueError(msg)
    return address
