"""A delivery, a batch item, a single request and an idle minute cost what is committed."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from notifications.core import conf
from notifications.core.rules.rate_limits.frequency_caps import Cap
from providers.contract import Channel
from tests.api.conftest import forget
from tests.benchmarks import cost_counts, seed
from tests.benchmarks.stage import PEOPLE, TEMPLATE, TYPE
from tests.journey import outbox

__all__ = ["outbox"]


@pytest.fixture(autouse=True)
def compared_conditions() -> None:
    """Leave out the comparison of `tests.sweep_conditions`, whose statements would be counted."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
def test_each_count_is_the_committed_count(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    counted = replace(conf.current(), caps={Channel.EMAIL: Cap(999_999, dt.timedelta(hours=1))})
    monkeypatch.setattr(conf, "current", lambda: counted)
    found = cost_counts.measure(seed.rows(people=PEOPLE, template=TEMPLATE, type_=TYPE))
    assert not cost_counts.differences(found), (
        "a cheaper or dearer step commits its counts: make bench ONLY=budget WRITE=1"
    )
