"""Rows of receipt lookups."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from notifications.core.store.postgres import db
from notifications.core.store.postgres.attempts import AttemptRow
from providers.receipt_lookup import Lookup


class Waiting(NamedTuple):
    """An accepted call without a receipt."""

    id: int
    delivery_id: UUID
    provider: str
    message_id: str
    sent_at: dt.datetime


def add(calls: Sequence[AttemptRow], *, provider: str, lookup: Lookup) -> None:
    """Store accepted calls to ask about; joins the transaction of the outcomes."""
    values = {"provider": provider, "after": lookup.after}
    ids = {"delivery_ids": [each.delivery_id for each in calls]}
    db.run("receipt_lookups_add", {**values, **ids, "message_ids": [each.detail for each in calls]})


def claim(*, now: dt.datetime, limit: int, again_in: dt.timedelta) -> list[Waiting]:
    """Take due rows, and move their due time; concurrent sweeps skip locked rows."""
    values = {"now": now, "limit": limit, "again_in": again_in}
    found = db.fetch_in_own_transaction("receipt_lookups_claim", values)
    return [Waiting(**row) for row in found]


def delete(ids: Collection[int]) -> None:
    """Delete rows; a row that is gone stays gone."""
    if ids:
        db.in_transaction(lambda: db.run("receipt_lookups_delete", {"ids": sorted(ids)}))
