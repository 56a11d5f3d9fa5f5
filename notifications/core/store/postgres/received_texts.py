"""Ids of inbound texts that changed a preference; detects a repeated text."""

from __future__ import annotations

from typing import Final

from notifications.core.store.postgres import db

_LONGEST_ID: Final = 255


def remember(provider: str, message_id: str) -> bool:
    """Store the id of a text in the open transaction; False for a repeated id.

    With two concurrent calls for one id, the second waits for the transaction of the first.
    """
    text = {"provider": provider, "message_id": message_id[:_LONGEST_ID]}
    return db.run("remember_text", text) > 0
