"""A claim has a line in the timeline where its event was when claims were events."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pytest

from notifications.core.rules.times.claims import Told, with_claims

_BEGIN = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


def _at(seconds: float) -> dt.datetime:
    return _BEGIN + dt.timedelta(seconds=seconds)


def _event(delivery: str, status: int | None, at: float, claimed: float | None = None) -> Told:
    return Told(delivery, status, _at(at), None if claimed is None else _at(claimed))


def _lines(events: Sequence[Told]) -> list[tuple[str, int | None]]:
    found = with_claims(events, lambda each: each, lambda claim, _beside: claim)
    return [(str(each.delivery_id), each.status) for each in found]


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([], []),
        ([_event("a", 2, 0), _event("a", 5, 9, 4)], [("a", 2), ("a", 3), ("a", 5)]),
        # An event without a status during the claim follows the claim.
        (
            [_event("a", 2, 0), _event("a", None, 6), _event("a", 5, 9, 4)],
            [("a", 2), ("a", 3), ("a", None), ("a", 5)],
        ),
        # Two deliveries that are sent at the same time.
        (
            [_event("a", 2, 0), _event("b", 2, 0), _event("b", 5, 8, 5), _event("a", 5, 9, 4)],
            [("a", 2), ("b", 2), ("a", 3), ("b", 3), ("b", 5), ("a", 5)],
        ),
        # The clock of the worker is behind: the claim stays after the status that it ended.
        ([_event("a", 2, 5), _event("a", 5, 9, 1)], [("a", 2), ("a", 3), ("a", 5)]),
        # The clock of the worker is ahead: the claim stays before the status that ended it.
        ([_event("a", 2, 0), _event("a", 5, 9, 99)], [("a", 2), ("a", 3), ("a", 5)]),
    ],
)
def test_a_claim_follows_what_was_before_it(
    events: Sequence[Told], lines: list[tuple[str, int | None]]
) -> None:
    assert _lines(events) == lines
