"""The first answer to a key, for 24 hours: exact, in Postgres.

A key is won by inserting its row in the transaction that stores what it asks for, so an answer
without its notifications, or notifications without their answer, cannot exist.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from notifications.rules.lane import Mode
from notifications.store import db

LASTS: Final = dt.timedelta(hours=24)
_COLUMNS: Final = ("producer_id", "mode", "key", "body_hash", "response", "expires_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key with the body that came with it and the answer to it."""

    key: str
    body_hash: bytes
    response: Any


def claim(producer_id: int, mode: Mode, entries: Sequence[Entry]) -> set[str]:
    """Win what can be won of these keys (each once); returns those won.

    Raises:
        django.db.OperationalError: another request with one of the keys is still running
        (lock_timeout).
    """
    batch = sorted(entries, key=lambda each: each.key)
    rows = db.rows(
        "claim_keys",
        {
            "producer_id": producer_id,
            "mode": mode,
            "lasts": LASTS,
            "keys": [each.key for each in batch],
            "hashes": [each.body_hash for each in batch],
            "responses": [orjson.dumps(each.response).decode() for each in batch],
        },
    )
    return {row["key"] for row in rows}


def copy(producer_id: int, mode: Mode, entries: Sequence[Entry], *, now: dt.datetime) -> None:
    """Store keys that are surely new.

    Raises:
        django.db.IntegrityError: one was not; the transaction is broken, claim them instead.
    """
    expires_at = now + LASTS
    records = [
        (
            producer_id,
            mode,
            each.key,
            each.body_hash,
            orjson.dumps(each.response).decode(),
            expires_at,
        )
        for each in entries
    ]
    db.insert(db.Rows("idempotency_key", _COLUMNS, records))


def first_answers(producer_id: int, mode: Mode, keys: Sequence[str]) -> Mapping[str, Entry]:
    """The stored answers to keys that were not won."""
    rows = db.rows("first_answers", {"producer_id": producer_id, "mode": mode, "keys": list(keys)})
    return {
        row["key"]: Entry(
            key=row["key"],
            body_hash=bytes(row["body_hash"]),
            response=orjson.loads(row["response"]),
        )
        for row in rows
    }
