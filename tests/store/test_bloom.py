"""The filter may be wrong in one direction only."""

from __future__ import annotations

import datetime as dt
from uuid import uuid4

import pytest

from notifications.store import bloom, state

_TODAY = dt.date(2026, 1, 2)


@pytest.fixture(autouse=True)
def _empty() -> None:
    state.client().flushdb()


def test_a_key_is_new_once() -> None:
    keys = [uuid4().hex for _ in range(500)]
    assert bloom.all_surely_new("1.1", keys, today=_TODAY)
    for key in keys:
        assert not bloom.all_surely_new("1.1", [key], today=_TODAY)


def test_yesterdays_keys_are_known_and_the_day_befores_are_not() -> None:
    key = uuid4().hex
    assert bloom.all_surely_new("1.1", [key], today=_TODAY)
    assert not bloom.all_surely_new("1.1", [key], today=_TODAY + dt.timedelta(days=1))
    other = uuid4().hex
    assert bloom.all_surely_new("1.1", [other], today=_TODAY)
    assert bloom.all_surely_new("1.1", [other], today=_TODAY + dt.timedelta(days=2))


def test_scopes_do_not_know_each_other() -> None:
    key = uuid4().hex
    assert bloom.all_surely_new("1.1", [key], today=_TODAY)
    assert bloom.all_surely_new("2.1", [key], today=_TODAY)
