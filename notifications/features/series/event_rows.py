"""Custom events: producers' posts about recipients, and the claims of the sweep `series`."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import db
from notifications.features.series.rules.custom_events import CustomEventRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class UnhandledEvent:
    """A custom event, locked by the open transaction."""

    id: int
    producer_id: int
    mode: int
    recipient_id: int
    user_id: str
    name: str
    properties: Mapping[str, Any]
    received_at: dt.datetime


class AddedEvent(NamedTuple):
    """The result of storing an event."""

    is_known: bool
    """False: the recipient is unknown, and nothing is stored."""
    is_new: bool
    """False: an event with the idempotency key is stored already."""


def add(producer_id: int, mode: Mode, wanted: Sequence[CustomEventRequest]) -> list[AddedEvent]:
    """Store events and return the results; an idempotency key occurs once in `wanted`."""
    if not wanted:
        return []
    parameters = {
        "producer": producer_id,
        "mode": int(mode),
        "numbers": list(range(len(wanted))),
        "user_ids": [each.user_id for each in wanted],
        "names": [each.name for each in wanted],
        "properties": [json.dumps(each.properties) for each in wanted],
        "occurred_at": [each.occurred_at for each in wanted],
        "keys": [each.idempotency_key or "" for each in wanted],
    }
    rows = {row["number"]: row for row in db.rows("custom_events_add", parameters)}
    return [
        AddedEvent(rows[number]["is_known"], rows[number]["is_new"])
        for number in range(len(wanted))
    ]


def claim(*, limit: int) -> list[UnhandledEvent]:
    """Lock and return unhandled events until the end of the open transaction, oldest first."""
    rows = db.rows("custom_events_claim", {"limit": limit})
    return [UnhandledEvent(**row) for row in rows]


def end(events: Sequence[UnhandledEvent]) -> None:
    """Mark events as handled."""
    db.run("custom_events_end", {"ids": [each.id for each in events]})


def postpone(events: Sequence[UnhandledEvent], *, wait: dt.timedelta) -> None:
    """Let events with an exception wait for their next try."""
    db.run("custom_events_postpone", {"ids": [each.id for each in events], "wait": wait})


def wake(events: Sequence[UnhandledEvent]) -> int:
    """Make running enrolments due if the version has the events; returns the number.

    Waits for the locks of enrolments with a running step.
    """
    parameters = {
        "recipients": [each.recipient_id for each in events],
        "producers": [each.producer_id for each in events],
        "names": [each.name for each in events],
    }
    ids = [row["id"] for row in db.rows("series_listening", parameters)]
    return db.run("series_wake", {"ids": ids}) if ids else 0


def forget(*, before: dt.datetime, limit: int) -> int:
    """Delete handled events from before an instant among the `limit` oldest."""
    return db.run("custom_events_forget", {"before": before, "limit": limit})
