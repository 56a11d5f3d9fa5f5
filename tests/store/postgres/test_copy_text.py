"""COPY's text format: whatever is written is read back the same."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.states import Status
from notifications.core.store.postgres import copy_text, db

pytestmark = pytest.mark.django_db

COLUMNS = ("words", "number", "id", "secret", "numbers", "at")
ROWS = st.tuples(
    st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    st.none() | st.integers(-(2**31), 2**31 - 1) | st.sampled_from(Status),
    st.none() | st.uuids(),
    st.none() | st.binary(),
    st.none() | st.lists(st.integers(-(2**15), 2**15 - 1)),
    st.none() | st.datetimes(timezones=st.just(dt.UTC)),
)


@given(rows=st.lists(ROWS, max_size=20))
def test_what_goes_in_comes_out(rows: list[tuple[object, ...]]) -> None:
    with connection.cursor() as running:
        running.execute("DROP TABLE IF EXISTS copied")
        running.execute(
            "CREATE TEMP TABLE copied (place serial, words text, number int, id uuid, secret bytea,"
            " numbers smallint[], at timestamptz)"
        )
    db.insert(db.Rows("copied", COLUMNS, rows))
    with db.cursor() as running:
        found = running.execute(f"SELECT {', '.join(COLUMNS)} FROM copied ORDER BY place")  # noqa: S608 - our own names
        assert [tuple(row.values()) for row in found] == rows


def test_equal_values_of_a_column_are_encoded_as_the_others_are() -> None:
    first = (
        "50 % of\t\\N\n",
        Status.SENT,
        UUID(int=5),
        b"\0",
        [1, 2],
        dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    )
    second = ("50 % of\t\\N\n", Status.SENT, UUID(int=6), None, [1, 2], None)
    assert copy_text.encode([first]) + copy_text.encode([second]) == copy_text.encode([
        first,
        second,
    ])
    assert copy_text.encode([(1,), (True,)]) == b"1\nt\n"
    assert copy_text.encode([("%s",), ("%s",)]) == b"%s\n%s\n"


def test_a_type_that_no_column_has_is_refused() -> None:
    with pytest.raises(TypeError, match="no COPY format for float"):
        copy_text.encode([(UUID(int=1), 1.5)])
