"""Columns of the Parquet files, in the order of the statements `archive_<table>.sql`."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

KEY_INDEX: Final = "key"
"""The name of the index of idempotency keys among the tables."""
_TIME: Final = pa.timestamp("us", tz="UTC")
_TEXT: Final = pa.string()

PERSONAL: Final = "personal"
"""The encrypted column of `notification`."""
_NOTIFICATION: Final = {
    "id": _TEXT,
    "producer_id": pa.int64(),
    "mode": pa.int16(),
    "priority": pa.int16(),
    "type": _TEXT,
    "category": _TEXT,
    "retry_preset": _TEXT,
    "recipient_id": pa.int64(),
    "template": pa.int64(),
    "channels": _TEXT,
    "spread": _TEXT,
    "falls_back": pa.bool_(),
    "traceparent": _TEXT,
    "scheduled_at": _TIME,
    "local_at": _TEXT,
    "local_zone": _TEXT,
    "expires_at": _TIME,
    "cancelled_at": _TIME,
    "created_at": _TIME,
    "bulk_job_id": _TEXT,
    "variant": _TEXT,
    "template_variant": _TEXT,
}
SOURCE: Final[Mapping[str, Mapping[str, pa.DataType]]] = {
    "notification": {
        **_NOTIFICATION,
        "person_key": _TEXT,
        "idempotency_key": _TEXT,
        PERSONAL: _TEXT,
    },
    "delivery": {
        "id": _TEXT,
        "mode": pa.int16(),
        "priority": pa.int16(),
        "channel": pa.int16(),
        "status": pa.int16(),
        "reason": _TEXT,
        "recipient_id": pa.int64(),
        "contact_id": pa.int64(),
        "provider": _TEXT,
        "provider_message_id": _TEXT,
        "attempts": pa.int16(),
        "attempts_before": pa.int16(),
        "resent": pa.bool_(),
        "generation": pa.int16(),
        "falls_back": pa.bool_(),
        "call_started_at": _TIME,
        "sent_at": _TIME,
        "delivered_at": _TIME,
        "switch_id": pa.int64(),
        "budget_id": pa.int64(),
    },
    "attempt": {
        "delivery_id": _TEXT,
        "number": pa.int16(),
        "provider": _TEXT,
        "outcome": _TEXT,
        "code": _TEXT,
        "started_at": _TIME,
        "latency_ms": pa.int32(),
        "segments": pa.int16(),
        "http_status": pa.int16(),
        "retry_after_s": pa.int32(),
        "signed_with": _TEXT,
        "country": _TEXT,
        "cost_micros": pa.int64(),
        "reserved_at": _TIME,
        "settled_micros": pa.int64(),
        "settled_at": _TIME,
        "answered_at": _TIME,
    },
    "event": {
        "notification_id": _TEXT,
        "seq": pa.int64(),
        "delivery_id": _TEXT,
        "status": pa.int16(),
        "reason": _TEXT,
        "at": _TIME,
        "occurred_at": _TIME,
        "claimed_at": _TIME,
    },
}
"""Table -> column -> type, as PostgreSQL sends the columns."""
FILES: Final[Mapping[str, pa.Schema]] = {
    **{table: pa.schema(list(columns.items())) for table, columns in SOURCE.items()},
    "notification": pa.schema([*_NOTIFICATION.items(), (PERSONAL, pa.binary())]),
    KEY_INDEX: pa.schema([("hash", pa.int64()), ("id", _TEXT)]),
}
"""Table -> schema of the Parquet file."""
ADDED: Final[Mapping[str, frozenset[str]]] = {
    "notification": frozenset({"template_variant"}),
    "event": frozenset({"claimed_at"}),
}
"""Table -> columns that files, and frozen partitions, of the release before do not have."""
FORMER: Final[Mapping[str, pa.Schema]] = {
    table: pa.schema([field for field in FILES[table] if field.name not in added])
    for table, added in ADDED.items()
}
"""Table -> schema of the files of the release before."""
IDS: Final[Mapping[str, list[str]]] = {
    "notification": ["id"],
    "delivery": ["id", "provider_message_id"],
    "attempt": ["delivery_id"],
    "event": ["notification_id", "delivery_id"],
    KEY_INDEX: ["id"],
}
"""Columns with many distinct texts, stored without a dictionary."""


def checksums(batch: pa.RecordBatch, so_far: Mapping[str, int]) -> dict[str, int]:
    """Continue the CRC-32 of each column with the values of a batch.

    The checksum depends on the values and their order, not on the boundaries of the batches, except
    for texts, with lengths and bytes added batch by batch.
    """
    return {
        name: _checksum(batch.column(position), so_far.get(name, 0))
        for position, name in enumerate(batch.schema.names)
    }


def _checksum(values: pa.Array, start: int) -> int:
    crc = zlib.crc32(_bytes(pc.cast(pc.is_null(values), pa.uint8())), start)
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        present = values.drop_null()
        crc = zlib.crc32(_bytes(pc.binary_length(present)), crc)
        return zlib.crc32(b"".join(_contents(present)), crc)
    if pa.types.is_boolean(values.type):
        values = pc.cast(values, pa.uint8())
    elif pa.types.is_timestamp(values.type):
        values = pc.cast(values, pa.int64())
    return zlib.crc32(_bytes(values.drop_null()), crc)


def _bytes(values: pa.Array) -> memoryview:
    """Return the values of an array of numbers without nulls."""
    width = values.type.bit_width // 8
    content = memoryview(values.buffers()[1] or b"").cast("B")
    return content[values.offset * width : (values.offset + len(values)) * width]


def _contents(values: pa.Array) -> list[memoryview]:
    """Return the bytes of an array of texts without nulls."""
    if not len(values):
        return []
    _, offsets, content = values.buffers()
    places = memoryview(offsets).cast("B").cast("i")
    first, last = places[values.offset], places[values.offset + len(values)]
    return [memoryview(content or b"").cast("B")[first:last]]
