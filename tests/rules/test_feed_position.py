"""A cursor gives its position back, and another text gives none."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.feed_position import FeedPosition

_BIGINT = st.integers(0, 2**63 - 1)
_INSTANTS = st.datetimes(timezones=st.just(dt.UTC))


@given(st.integers(0, 2**64 - 1), _BIGINT, _BIGINT, st.none() | _INSTANTS)
def test_a_cursor_gives_its_position_back(
    cluster: int, xid: int, seq: int, since: dt.datetime | None
) -> None:
    position = FeedPosition(cluster=cluster, xid=xid, seq=seq, since=since)
    assert FeedPosition.from_cursor(position.to_cursor()) == position
    assert len(position.to_cursor()) == 43


@pytest.mark.parametrize("text", ["", "x", "A" * 42, "A" * 44, "é" * 43, "*" * 43, "_" * 43])
def test_another_text_gives_no_position(text: str) -> None:
    assert FeedPosition.from_cursor(text) is None


@given(st.text(max_size=64))
def test_no_text_raises(text: str) -> None:
    FeedPosition.from_cursor(text)
