"""One search field for whatever an operator has in hand, in the admin and in a shell."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from notifications.store import search
from notifications.store.search import Hit

MOST: Final = 200
"""Hits; who has more than that looks for a person, not for a message."""


def find(term: str) -> list[Hit]:
    """Deliveries of this id, or of this address, user or provider's message id; newest first."""
    term = term.strip()
    try:
        return search.find(any_id=UUID(term), limit=MOST)
    except ValueError:
        pass
    if not term:
        return []
    return [
        *search.find(user_id=term, limit=MOST),
        *search.find(address=term, limit=MOST),
        *search.find(provider_message_id=term, limit=MOST),
    ]
