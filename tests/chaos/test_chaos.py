"""Short runs of `make chaos`: nothing is lost, sent twice or misreported."""

from __future__ import annotations

import pytest

from tests.chaos import drive, named, plans, report
from tests.chaos.plans import Plan
from tests.chaos.reconcile import reconcile
from tests.chaos.stage import Stage


@pytest.mark.parametrize(
    "plan", [plans.seeded(kills=4, seed=3), named.slow_codes(1)], ids=lambda plan: plan.name
)
def test_a_short_run(plan: Plan) -> None:
    with Stage(seed=plan.seed) as stage:
        facts = drive.play(plan, stage)
        account = reconcile(facts)
        told = "\n".join([
            *report.timelines(account, facts, stage),
            *report.table(plan, facts, account),
        ])
    assert account.accepted == len(plan.messages), told
    assert len(facts.faults) == len(plan.actions), told
    assert not account.broken, told
