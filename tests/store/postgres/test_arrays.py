"""Lists as parameters: whatever is bound comes back the same, but for NULs, which are dropped."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.store.postgres import arrays, db

pytestmark = pytest.mark.django_db

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(texts=st.lists(TEXTS), ids=st.lists(st.uuids()))
def test_a_list_is_bound_as_it_is(texts: list[str], ids: list[UUID]) -> None:
    with db.cursor() as running:
        query = "SELECT %(texts)s::text[] AS texts, %(ids)s::uuid[] AS ids"
        [row] = running.execute(query, arrays.bound({"texts": texts, "ids": ids})).fetchall()
    assert row["texts"] == [text.replace("\0", "") for text in texts]
    assert row["ids"] == ids
