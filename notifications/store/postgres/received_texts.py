"""Ids of the texts that people sent and that changed something: a repeat is told by its id."""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.store.postgres import db

KEPT: Final = dt.timedelta(days=30)
"""Twilio repeats a callback for a day at most; an operator may replay older ones by hand."""
_LONGEST_ID: Final = 255


def remember(provider: str, message_id: str) -> bool:
    """Store the id of a text in the open transaction; False where it was stored before.

    Of two calls with one id the second waits for the first one's transaction.
    """
    text = {"provider": provider, "message_id": message_id[:_LONGEST_ID]}
    return db.run("remember_text", text) > 0


def purge(*, now: dt.datetime, limit: int) -> int:
    """Forget up to `limit` ids that are older than KEPT."""
    return db.run("delete_received_texts", {"before": now - KEPT, "limit": limit})
