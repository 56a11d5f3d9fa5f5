"""Each column of the database is in the archive, or is left out for a reason."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from django.db import models

from notifications.core.models import Attempt, Delivery, Event, Notification
from notifications.features.archive import columns, personal

_LEFT_OUT = {
    "notification": {"secrets": "sensitive variables never reach the archive"},
    "delivery": dict.fromkeys(
        (
            *("due_at", "publishes", "published_at", "claims", "claim_token"),
            *("slot_provider", "slot_at"),
        ),
        "of open deliveries only",
    ),
    "attempt": {"detail": "in the personal values"},
    "event": {
        "detail": "in the personal values",
        "xid": "a number of this database's transactions, for the change feed",
    },
}


@pytest.mark.parametrize("model", [Notification, Delivery, Attempt, Event])
def test_each_column_is_archived_or_left_out_for_a_reason(model: type[models.Model]) -> None:
    table = model._meta.db_table
    names = {field.attname for field in model._meta.concrete_fields if field.attname}
    archived = {*columns.SOURCE[table], *_LEFT_OUT[table]} - {"pk"}
    if table == "notification":
        archived = archived - {columns.PERSONAL, "person_key"} | set(personal.NAMES)
        archived -= {"event_details", "attempt_details"}
    assert names - {"pk"} == archived


def _batch(*values: object) -> pa.RecordBatch:
    times = [None, dt.datetime(2026, 1, 2, tzinfo=dt.UTC), None]
    arrays = [
        pa.array(values, pa.string()),
        pa.array([1, None, 3], pa.int16()),
        pa.array([True, False, None], pa.bool_()),
        pa.array(times, pa.timestamp("us", tz="UTC")),
        pa.array([b"x", b"", None], pa.binary()),
    ]
    return pa.record_batch(arrays, ["text", "number", "flag", "time", "bytes"])


def test_checksums_are_of_the_values_and_not_of_the_memory() -> None:
    whole = _batch("a", None, "bc")
    padded = pa.concat_batches([whole, whole]).slice(3, 3)
    assert columns.checksums(padded, {}) == columns.checksums(whole, {})


@pytest.mark.parametrize(
    "values", [("a", "", "bc"), ("ab", None, "c"), (None, "a", "bc"), ("b", None, "bc")]
)
def test_another_text_has_another_checksum(values: tuple[str | None, ...]) -> None:
    given = columns.checksums(_batch("a", None, "bc"), {})
    other = columns.checksums(_batch(*values), {})
    assert given["text"] != other["text"]
    assert given["number"] == other["number"]
