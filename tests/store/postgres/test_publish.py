"""P0 and P1 go to the broker after the commit of the outermost transaction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.db import transaction

from celeryconfig import KEY_PREFIX
from notifications.core import conf, lanes
from notifications.core.rules.lane import Lane, Mode, Priority
from providers.contract import Channel
from tests.journey import Accept, Reach

pytestmark = pytest.mark.django_db(transaction=True)
_PACKAGE = Path(lanes.__file__).parent
_LANE = Lane(Mode.LIVE, Priority.P1, Channel.EMAIL)


@pytest.fixture(autouse=True)
def _no_message() -> Iterator[None]:
    """Empty the queue before and after a test."""
    with redis.Redis.from_url(conf.current().broker_url) as client:
        client.delete(f"{KEY_PREFIX}{_LANE.name}")
        yield
        client.delete(f"{KEY_PREFIX}{_LANE.name}")


def test_only_the_relay_publishes_beside_the_module_that_waits_for_the_commit() -> None:
    publishers = {
        path.relative_to(_PACKAGE).as_posix()
        for path in _PACKAGE.rglob("*.py")
        if re.search(r"\b(lanes|publish)\.publish(_due)?\b", path.read_text())
    }
    assert publishers == {
        "store/postgres/publish.py",
        "sweeps/relay.py",  # after the commit of `take`
    }


def _published() -> int:
    return lanes.depths([_LANE.name])[_LANE.name]


def test_a_request_of_its_own_is_published_at_once(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    take(priority="P1")
    assert _published() == 1


def test_a_request_inside_a_transaction_is_published_after_its_commit(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    with transaction.atomic():
        with transaction.atomic():
            take(priority="P1")
        assert _published() == 0
    assert _published() == 1


def test_a_rolled_back_request_is_not_published(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    with transaction.atomic():
        take(priority="P1")
        transaction.set_rollback(True)
    assert _published() == 0
