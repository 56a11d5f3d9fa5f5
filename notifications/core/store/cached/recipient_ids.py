"""User id -> id of the recipient, so that a poll of an inbox makes no query for the recipient.

A recipient keeps the id until the erasure, and a recipient created again has a new id. An erased
recipient has no inbox, so a reader who gets the version 0 for a kept id asks with `renew`. The
verification of tokens drops recipients whose tokens were revoked; an erasure revokes, too.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final, NamedTuple

from django.db.models import OuterRef, Subquery

from notifications.core.models import Recipient, TokenRevocation
from notifications.core.rules.lane import Mode

MAX_KEPT: Final = 50_000
"""Recipients that a process remembers, at about 400 bytes each; a full memory is emptied."""

KEPT_AT_MOST: Final = dt.timedelta(minutes=10)
"""Without a look at the revocations of tokens."""


class KnownRecipient(NamedTuple):
    """A recipient as last read from the database."""

    id: int
    created_at: dt.datetime
    revoked_before: dt.datetime | None
    """The recipient's tokens issued up to this instant are revoked."""


def find(*, mode: Mode, user_id: str, renew: bool = False) -> int | None:
    """Return the id of a recipient; None for an unknown user id, which is never cached.

    Args:
        mode: the mode of the recipient.
        user_id: the producers' id of the recipient.
        renew: ask the database, also for a kept id.
    """
    row = find_recipient(mode=mode, user_id=user_id, renew=renew)
    return None if row is None else row.id


def find_recipient(*, mode: Mode, user_id: str, renew: bool = False) -> KnownRecipient | None:
    """Return the id, the creation and the revocation of a recipient; arguments as in `find`."""
    name = (mode, user_id)
    kept = None if renew else _kept.get(name)
    if kept is not None:
        return kept
    revoked = TokenRevocation.objects.filter(pk=OuterRef("pk")).values("revoked_before")
    rows = Recipient.objects.filter(mode=mode, user_id=user_id).annotate(revoked=Subquery(revoked))
    row = rows.values_list("pk", "created_at", "revoked").first()
    if row is None:
        _kept.pop(name, None)
        return None
    if len(_kept) >= MAX_KEPT:
        forget()
    known = _kept[name] = KnownRecipient(*row)
    _names[known.id] = name
    return known


def drop(recipient_ids: Iterable[int]) -> None:
    """Ask the database again for recipients."""
    for recipient_id in recipient_ids:
        name = _names.pop(recipient_id, None)
        if name is not None:
            _kept.pop(name, None)


def forget() -> None:
    """Empty the memory of the process."""
    _kept.clear()
    _names.clear()


_kept: dict[tuple[Mode, str], KnownRecipient] = {}
_names: dict[int, tuple[Mode, str]] = {}
