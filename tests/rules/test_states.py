"""The move table is whole, and a notification's status follows from its deliveries'."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.rules.states import OPEN, Status, overall
from notifications.rules.transitions import NEVER_LEFT, SOURCES


def test_every_status_can_be_reached() -> None:
    assert set(SOURCES) == set(Status)


def test_what_is_final_for_ever_is_what_nothing_follows() -> None:
    assert {Status.READ, Status.SUPPRESSED, Status.CANCELLED} == NEVER_LEFT


@pytest.mark.parametrize("status", OPEN)
def test_every_open_status_can_end(status: Status) -> None:
    assert status in SOURCES[Status.EXPIRED]
    assert status in SOURCES[Status.CANCELLED]
    assert status in SOURCES[Status.FAILED]


@pytest.mark.parametrize("status", [Status.SENT, Status.DELIVERED, Status.READ])
def test_what_a_provider_took_never_leaves_again(status: Status) -> None:
    assert status not in SOURCES[Status.QUEUED]
    assert status not in SOURCES[Status.SENDING]
    assert status not in SOURCES[Status.RETRYING]


_RECEIPTS = [Status.DELIVERED, Status.READ]


@given(st.permutations([*_RECEIPTS, *_RECEIPTS]), st.sampled_from([Status.SENDING, Status.SENT]))
def test_receipts_end_alike_in_any_order(receipts: list[Status], start: Status) -> None:
    status = start
    for target in receipts:
        if status in SOURCES[target]:
            status = target
    assert status is Status.READ


@given(st.lists(st.sampled_from(Status), min_size=1))
def test_a_notification_is_as_far_as_its_furthest_delivery(statuses: list[Status]) -> None:
    assert overall(statuses) in statuses
    if Status.READ in statuses:
        assert overall(statuses) is Status.READ
    if set(statuses) & OPEN:
        assert overall(statuses) not in {Status.FAILED, Status.SUPPRESSED, Status.CANCELLED}


def test_only_rows_that_wait_for_a_receipt_reach_their_own_status() -> None:
    selves = {target for target, sources in SOURCES.items() if target in sources}
    assert selves == {Status.SENT, Status.UNKNOWN}


def test_every_pair_is_decided() -> None:
    pairs = set(itertools.product(Status, Status))
    legal = {(source, target) for target, sources in SOURCES.items() for source in sources}
    assert legal < pairs
