"""A provider that fails, with another provider behind it, shows its failed calls."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.figures.questions import Question, ask
from notifications.core.intake.accept import Caller
from notifications.core.models import Delivery, Event, ProviderRoute, RollupLatency
from notifications.core.rules.reasons import Reason
from notifications.core.rules.rollups import Dimension
from notifications.core.rules.states import Status
from notifications.core.store.postgres import rollups
from providers.contract import Channel
from tests.journey import Accept, AddVendor, Reach, deliveries_of
from tests.old_days import recount_days

pytestmark = pytest.mark.django_db(transaction=True)


def _by_provider(metric: str) -> dict[object, float | None]:
    now = clock.now()
    hour = dt.timedelta(hours=1)
    by = (Dimension.PROVIDER,)
    answer = ask(Question(metric=metric, start=now - hour, end=now + hour, by=by, now=now))
    return {group.key[0]: group.total for group in answer.groups if group.total is not None}


def test_the_failed_call_of_a_failover_counts_once_with_its_provider(
    caller: Caller, reach: Reach, take: Accept, add_vendor: AddVendor
) -> None:
    assert caller.producer_id  # the database is ready
    add_vendor("spare")
    for rank, provider in enumerate(("sandbox", "spare")):
        ProviderRoute.objects.create(channel=Channel.EMAIL, provider=provider, rank=rank)
    rollups.count_next(limit=1)
    reach(email="maria+503x1@sandbox.example")
    [row] = deliveries_of(take())
    deliver.deliver([row.id])
    assert Delivery.objects.get(id=row.id).status == Status.SENT
    [event] = Event.objects.filter(delivery_id=row.id, reason=Reason.FAILED_OVER)
    assert (event.status, event.detail) == (None, "sandbox: unavailable")

    def check() -> None:
        assert _by_provider("calls") == {"sandbox": 1, "spare": 1}
        assert _by_provider("failed_calls") == {"sandbox": 1}
        assert _by_provider("call_failure_rate") == {"sandbox": 1, "spare": 0}
        assert set(_by_provider("call_to_answer_p95")) == {"sandbox", "spare"}
        assert set(_by_provider("accept_to_call_p95")) == {"sandbox"}
        assert _by_provider("sent") == {"spare": 1}

    while rollups.count_next(limit=1).more:
        pass
    check()
    RollupLatency.objects.all().delete()
    recount_days()
    check()
