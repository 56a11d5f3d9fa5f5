"""Clicks on messages that were read before: an event of the delivery, which keeps its status."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from uuid import UUID

from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import db, id_ranges


def record(clicked: Mapping[UUID, dt.datetime | None]) -> None:
    """Add the event of a click to each read delivery without one. Safe to run twice and at once.

    Args:
        clicked: delivery to the time of the click, if the report has one.
    """
    if not clicked:
        return
    span = id_ranges.around(clicked)

    def work() -> None:
        asked = {"ids": list(clicked), "read": Status.READ, **span}
        ids = [row["id"] for row in db.rows("clicks_lock", asked)]
        if ids:
            times = [clicked[each] for each in ids]
            reason = Reason.CLIENT_CLICKED.value
            db.run("clicks_add", {"ids": ids, "occurred_at": times, "reason": reason, **span})

    db.in_transaction(work)
