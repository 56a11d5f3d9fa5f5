"""The ceilings of prefixes pass one-time passwords whose channel is away, and stop an attack."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final
from uuid import uuid4

import pytest

from notifications.core import clock
from notifications.core.models import Rollup, RollupSeries
from notifications.core.rules.lane import Mode
from notifications.core.store.redis import state
from notifications.features.sms_pumping import counts
from notifications.features.sms_pumping import policy as sms_policy
from notifications.features.sms_pumping.counts import SmsRequest
from notifications.features.sms_pumping.rules.ceilings import Policy

pytestmark = pytest.mark.django_db
_FLOORS: Final = Policy()


@pytest.fixture(autouse=True)
def _nothing_counted() -> Iterator[None]:
    state.client().flushdb()
    sms_policy.forget()
    yield
    sms_policy.forget()


def _request(number: int) -> SmsRequest:
    address = f"+491511234{number:06}"
    ceilings = _FLOORS.of(address, country="DE", producer_id=1, now=clock.now())
    assert ceilings is not None
    return SmsRequest(str(number).encode(), address, "DE", 1, ceilings)


_RATES: Final = [(5, 60), (8, 60), (8, 100), (3, 30), (20, 100)]
"""P0 a second, and prefixes."""


def _refused(policy: Policy, per_second: int, prefixes: int, *, is_fallback: bool) -> int:
    """Count the codes of ten minutes on so many prefixes of Brazil; returns the refused ones."""
    requests = [
        counts.request_of(
            policy,
            f"+5511{900 + place % prefixes}{place:06}",
            producer_id=1,
            idempotency_key="",
            notification_id=uuid4(),
            is_fallback=is_fallback,
        )
        for place in range(per_second * 600)
    ]
    answers = counts.count([each for each in requests if each is not None])
    assert len(answers) == per_second * 600
    return sum(each.refused_by is not None for each in answers)


@pytest.mark.parametrize(("per_second", "prefixes"), _RATES)
def test_no_code_of_a_fallback_chain_is_refused(per_second: int, prefixes: int) -> None:
    assert _refused(_FLOORS, per_second, prefixes, is_fallback=True) == 0


@pytest.mark.parametrize(("per_second", "prefixes"), _RATES)
def test_no_code_of_a_producer_with_as_many_p0_on_push_is_refused(
    per_second: int, prefixes: int
) -> None:
    policy = Policy(p0_by_producer={1: per_second * 600})
    assert _refused(policy, per_second, prefixes, is_fallback=False) == 0


def test_the_p0_of_a_producer_on_all_channels_count() -> None:
    minute = clock.now().replace(second=0, microsecond=0)
    for channel, minutes in ((1, 0), (2, 9), (1, 30)):
        for mode, priority, number in ((Mode.LIVE, 0, 40), (Mode.LIVE, 1, 7), (Mode.TEST, 0, 9)):
            series, _ = RollupSeries.objects.get_or_create(
                dimension_set=1, mode=mode, producer_id=5, channel=channel, priority=priority
            )
            Rollup.objects.create(
                cube=11,
                series_id=series.pk,
                bucket=minute - dt.timedelta(minutes=minutes),
                accepted=number,
            )
    sms_policy.forget()
    assert sms_policy.current().p0_by_producer == {5: 80}


def test_sms_that_other_prefixes_were_refused_raise_the_ceiling_of_a_prefix() -> None:
    hour = int(clock.now().timestamp()) // 3600
    for number in (hour - 1, hour):
        for name, count in (("DE", 20_000), ("4915113", 10_000)):
            state.client().hset(f"{counts.REFUSED}:{number}", name, count)
    requests = [_request(n) for n in range(90)]
    assert all(each.refused_by is None for each in counts.count(requests))


def test_an_attack_on_a_prefix_does_not_raise_the_ceiling_by_what_was_refused() -> None:
    answers = counts.count([_request(n) for n in range(4_000)])
    assert sum(each.refused_by is None for each in answers) == 50
