"""A seed makes the same plan each time, and a long one strikes everything."""

from __future__ import annotations

from dataclasses import asdict

from tests.chaos import plans


def test_a_seed_is_a_plan() -> None:
    first, again = (plans.seeded(kills=30, seed=7) for _ in range(2))
    assert asdict(first) == asdict(again)
    other = plans.seeded(kills=30, seed=8)
    assert [each.target for each in first.actions] != [each.target for each in other.actions]
    struck = {each.target for each in first.actions}
    assert struck == {*plans.PROCESSES, *plans.SERVERS}
