"""Contacts whose address a provider replaced, such as a group of Telegram that became a supergroup.

The contact gets the new address, with the provider as the author of the change. A change of an
operator or a producer since the call wins. Safe to run twice, late or never: while the contact has
the old address, the provider names the new address at each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import structlog
from django.db import Error

from notifications.core.store.postgres import db

_log = structlog.get_logger(__name__)


class NewAddress(NamedTuple):
    """The address that a contact gets, if it still has the old address."""

    old: str
    new: str


def record(moves: Mapping[int, NewAddress], *, provider: str) -> None:
    """Store new addresses, by contact id, in a transaction of its own. Raises nothing."""
    if not moves:
        return
    parameters = {
        "ids": list(moves),
        "old": [each.old for each in moves.values()],
        "new": [each.new for each in moves.values()],
        "provider": provider,
    }
    try:
        moved = {row["id"] for row in db.fetch_in_own_transaction("move_contacts", parameters)}
    except Error as error:  # the calls are settled, and the next call tells the address again
        _log.warning("contacts_not_moved", provider=provider, error=type(error).__name__)
        return
    for contact_id in moves:
        kept = contact_id not in moved
        _log.info("contact_moved", provider=provider, contact_id=contact_id, kept_address=kept)
