"""One category of what a person does not want, added or taken away.

Atomic, so that two clicks lose nothing.
"""

from __future__ import annotations

from notifications.store import db, tallies


def leave(recipient_id: int, *, category: str) -> bool:
    """Opt a recipient out of a category; False when they had left it already, or are erased."""
    left = bool(db.alone("leave_category", {"recipient": recipient_id, "category": category}))
    tallies.count_opt_outs([tallies.CATEGORY] * left)
    return left


def come_back(recipient_id: int, *, category: str) -> bool:
    """Take a category off a recipient's list; False when it does not stand there."""
    return bool(db.alone("return_category", {"recipient": recipient_id, "category": category}))
