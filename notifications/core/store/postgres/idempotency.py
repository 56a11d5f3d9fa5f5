"""Idempotency keys and their first answers, for 24 hours, in Postgres.

A key is inserted in the transaction that stores the notifications, so neither exists without the
other. Of two concurrent inserts of a key, the second waits for the first and violates the index.

The answer to an accepted notification is stored in the packed form (`rules.accepted_answer`), and
any other answer as JSON.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

import orjson
import psycopg
import structlog

from notifications.core import conf
from notifications.core.rules import accepted_answer
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import db, packed_responses

_log = structlog.get_logger(__name__)
_COLUMNS: Final = (
    *("producer_id", "mode", "key", "body_hash", "response", "packed_response", "expires_at"),
)


_INDEX: Final = "idempotency_key_pkey"


class IdempotencyKey(NamedTuple):
    """An idempotency key with the owner."""

    producer_id: int
    mode: Mode
    name: str


class IdempotencyRecord(NamedTuple):
    """A key with the request body and the answer."""

    key: IdempotencyKey
    body_hash: bytes
    response: Any
    """The answer; None: the stored answer has the form of another release."""
    packed_response: bytes | None = None
    """The same response in the packed form, if the form can hold it. Of a new key only."""


_key_of: Final = operator.attrgetter("key")


def rows(entries: Iterable[IdempotencyRecord], *, now: dt.datetime) -> db.Rows:
    """Return entries to insert in key order, so that two batches never deadlock."""
    expires_at = now + conf.current().idempotency_keys_kept
    packs = packed_responses.are_readable_by_all()
    records = [
        (*each.key, each.body_hash, None, each.packed_response, expires_at)
        if packs and each.packed_response is not None
        else (*each.key, each.body_hash, orjson.dumps(each.response).decode(), None, expires_at)
        for each in sorted(entries, key=_key_of)
    ]
    return db.Rows("idempotency_key", _COLUMNS, records)


def first_answers(keys: Collection[IdempotencyKey]) -> db.Query[IdempotencyRecord]:
    """Return the query for the stored answers to keys.

    With several producers, the result may include answers to equal keys of another producer.
    """
    whose = {(each.producer_id, each.mode) for each in keys}
    parameters = {
        "producer_ids": sorted({producer_id for producer_id, _ in whose}),
        "modes": sorted({int(mode) for _, mode in whose}),
        "keys": sorted({each.name for each in keys}),
    }
    return db.Query("first_answers", parameters, _entry)


def is_held(error: Exception) -> bool:
    """Return True if a statement waited too long for another transaction that inserts its key.

    The text around the name of the index, and its quotes, are in the language of the server.
    """
    cause = error.__cause__
    if not isinstance(cause, psycopg.errors.LockNotAvailable):
        return False
    return _INDEX in (cause.diag.context or "")


def take(
    key: IdempotencyKey, body_hash: bytes, *, patience: dt.timedelta
) -> IdempotencyRecord | None:
    """Take a key in the open transaction, or return the stored entry of the key.

    Waits for another transaction that has taken the key. `keep` adds the answer.

    Raises:
        django.db.OperationalError: the other transaction took longer than `patience`.
    """
    parameters = {
        **key._asdict(),
        "body_hash": body_hash,
        "lasts": conf.current().idempotency_keys_kept,
    }
    with db.patient_for(patience):
        is_new = db.run("take_key", parameters)
    if is_new:
        return None
    [[earlier]] = db.fetch_all([first_answers([key])])
    return earlier


def keep(key: IdempotencyKey, response: Mapping[str, Any]) -> None:
    """Store the answer under a key taken by this transaction."""
    parameters = {**key._asdict(), "response": orjson.dumps(response).decode()}
    db.run("keep_answer", parameters)


def forget_expired(keys: Collection[IdempotencyKey]) -> None:
    """Delete the expired keys among `keys`."""
    producer_ids, modes, names = (list(column) for column in zip(*sorted(keys), strict=True))
    parameters = {"producer_ids": producer_ids, "modes": modes, "keys": names}
    db.fetch_in_own_transaction("forget_keys", parameters)


def _entry(
    producer_id: int,
    mode: int,
    name: str,
    body_hash: bytes,
    response: str | None,
    packed_response: bytes | None,
) -> IdempotencyRecord:
    key = IdempotencyKey(producer_id, Mode(mode), name)
    if response is None and packed_response is not None:
        answer = _unpacked(bytes(packed_response))
    else:
        answer = orjson.loads(response or "null")
    return IdempotencyRecord(key, bytes(body_hash), answer)


def _unpacked(packed_response: bytes) -> dict[str, Any] | None:
    """Return the answer of the packed form; None for the form of another release."""
    try:
        return accepted_answer.as_json(accepted_answer.unpack(packed_response))
    except ValueError as error:
        _log.warning("kept_answer_unreadable", detail=str(error))
        return None
