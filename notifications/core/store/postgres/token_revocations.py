"""Revocations of recipient tokens: the tokens of a recipient that were issued up to an instant."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection

from notifications.core.store.postgres import db


def revoke(recipient_ids: Collection[int]) -> None:
    """Revoke all tokens of recipients issued until now. Safe to run twice.

    Inside a transaction the revocation acts with the commit.
    """
    db.run("token_revoke", {"ids": sorted(set(recipient_ids))})


def find(recipient_ids: Collection[int]) -> dict[int, dt.datetime]:
    """Return the instant up to which tokens are revoked, by recipient with a revocation."""
    rows = db.rows("token_revocations", {"ids": sorted(set(recipient_ids))})
    return {row["recipient_id"]: row["revoked_before"] for row in rows}


def find_recent(age: dt.timedelta) -> list[int]:
    """Return the recipients with a revocation within the age."""
    rows = db.rows("token_revocations_noted", {"seconds": age.total_seconds()})
    return [row["recipient_id"] for row in rows]
