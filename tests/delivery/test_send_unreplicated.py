"""A worker calls no provider for a claim that no synchronous standby confirmed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError

from notifications.core.delivery import deliver, send
from notifications.core.rules.states import Status
from tests.journey import Accept, Reach, lapse, statuses, take_rows
from tests.standbys import standby_gone

_EACH = 10**6


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_wait_before_the_call_leaves_the_row_to_the_next_claim(
    reach: Reach,
    take: Accept,
    outbox: Callable[[UUID], list[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(send, "_RENEW_WITHIN", 0.1)
    reach(email="maria@sandbox.example")
    [row] = take_rows(take, 1, priority="P2")
    with standby_gone(times=_EACH), pytest.raises(OperationalError, match="standby"):
        deliver.deliver([row])
    assert outbox(row) == []
    assert statuses([row]) == [Status.SENDING]
    lapse(row)


@pytest.mark.django_db(transaction=True)
def test_a_renewal_is_repeated_until_a_standby_confirms_it(
    reach: Reach, take: Accept, outbox: Callable[[UUID], list[Any]]
) -> None:
    reach(email="maria@sandbox.example")
    [row] = take_rows(take, 1, priority="P2")
    with standby_gone(times=2):
        deliver.deliver([row])
    assert statuses([row]) == [Status.SENT]
    assert len(outbox(row)) == 1
