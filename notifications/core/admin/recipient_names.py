"""The names of recipients on the pages of operators.

A recipient has the user id that a producer chose. A recipient who was registered by an address,
with `to` in the request, has a user id of the service, which tells an operator nothing: the masked
address stands beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import Model, OuterRef, QuerySet, Subquery

from notifications.core.models import Contact
from notifications.core.rules import masking
from notifications.core.rules.recipient import is_made_of_address

_ADDRESS: Final = "address_of_recipient"
_CHANNEL: Final = "channel_of_recipient"


def name(recipient_id: int | None, user_id: str) -> str:
    """Return the user id, with the masked addresses of a recipient registered by an address."""
    return names({recipient_id or 0: user_id})[recipient_id or 0]


def names(user_ids: Mapping[int, str]) -> dict[int, str]:
    """Return the same for several recipients, by recipient id; one query at most."""
    wanted = [pk for pk, user_id in user_ids.items() if is_made_of_address(user_id)]
    masked: dict[int, list[str]] = defaultdict(list)
    if wanted:
        rows = Contact.objects.filter(recipient__in=wanted).order_by("-is_primary", "pk")
        for recipient, address, channel in rows.values_list("recipient", "address", "channel"):
            masked[recipient].append(masking.mask(address, channel))
    return {pk: _beside(user_id, masked[pk]) for pk, user_id in user_ids.items()}


def with_address(rows: QuerySet[Any], *, recipient: str = "recipient_id") -> QuerySet[Any]:
    """Add what `name_of_row` needs to the rows of a list; `recipient` has the recipient's id."""
    contacts = Contact.objects.filter(recipient=OuterRef(recipient))
    first = contacts.order_by("-is_primary", "pk")
    annotated: QuerySet[Any] = rows.annotate(**{
        _ADDRESS: Subquery(first.values("address")[:1]),
        _CHANNEL: Subquery(first.values("channel")[:1]),
    })
    return annotated


def name_of_row(row: Model, user_id: str) -> str:
    """Return the name of the recipient of a row of `with_address`."""
    address, channel = getattr(row, _ADDRESS, None), getattr(row, _CHANNEL, None)
    if address is None or channel is None or not is_made_of_address(user_id):
        return user_id
    return _beside(user_id, [masking.mask(address, channel)])


def _beside(user_id: str, masked: Sequence[str]) -> str:
    return f"{user_id} ({', '.join(dict.fromkeys(masked))})" if masked else user_id
