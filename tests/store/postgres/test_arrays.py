"""Lists as parameters: whatever is bound comes back the same, but for NULs, which are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.store.postgres import arrays, db

pytestmark = pytest.mark.django_db

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(texts=st.lists(TEXTS), ids=st.lists(st.uuids()))
def test_a_list_is_bound_as_it_is(texts: list[str], ids: list[UUID]) -> None:
    with db.cursor() as running:
        query = "SELECT %(texts)s::text[] AS texts, %(ids)s::uuid[] AS ids"
        [row] = running.execute(query, arrays.bound({"texts": texts, "ids": ids})).fetchall()
    assert row["texts"] == [text.replace("\0", "") for text in texts]
    assert row["ids"] == ids


INTEGERS = st.sampled_from([8, 15, 16, 31, 32, 63]).flatmap(
    lambda bits: st.integers(-(1 << bits), (1 << bits) - 1)
)


@given(first=INTEGERS, others=st.lists(st.none() | INTEGERS))
def test_integers_are_bound_as_they_are_with_the_type_of_psycopg(
    first: int, others: list[int | None]
) -> None:
    _check_as_psycopg([first, *others], "bigint")


TIMES = st.builds(datetime.fromtimestamp, st.floats(-3e9, 3e9), st.timezones())


@given(first=TIMES, others=st.lists(st.none() | TIMES))
def test_times_are_bound_as_they_are_with_the_type_of_psycopg(
    first: datetime, others: list[datetime | None]
) -> None:
    _check_as_psycopg([first, *others], "timestamptz")


def _check_as_psycopg(values: Sequence[object], kind: str) -> None:
    query = f"SELECT %(values)s::{kind}[] AS got, pg_typeof(%(values)s)::text AS kind"
    with db.cursor() as running:
        [ours] = running.execute(query, arrays.bound({"values": values})).fetchall()
        [theirs] = running.execute(query, {"values": values}).fetchall()
    assert ours == theirs


@pytest.mark.parametrize("count", [0, 1, 3])
def test_lists_without_a_value_are_bound_as_they_are_with_the_type_of_psycopg(count: int) -> None:
    _check_as_psycopg([None] * count, "smallint")
