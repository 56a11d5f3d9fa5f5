"""Messages of each queue that a worker holds on RabbitMQ."""

from __future__ import annotations

import pytest

from notifications.core import lanes


@pytest.mark.parametrize("slots", range(1, 40))
def test_a_worker_of_p2_and_p3_holds_four_to_one_and_has_work_for_each_slot(slots: int) -> None:
    held = lanes.prefetch(["p3.sms", "p2.sms", "test.p3.sms", "test.p2.sms"], slots=slots)
    assert held["p2.sms"] == held["test.p2.sms"] == 4 * held["p3.sms"]
    assert held["p3.sms"] == held["test.p3.sms"]
    assert held["p2.sms"] >= slots


@pytest.mark.parametrize(
    "queues", [["p3.sms", "p3.email"], ["p0.sms", "p1.sms"], ["p1.sms", "ops"]]
)
def test_other_workers_hold_a_message_for_each_slot(queues: list[str]) -> None:
    assert lanes.prefetch(queues, slots=8) == dict.fromkeys(queues, 8)


def test_p1_keeps_its_share_beside_p2_and_p3() -> None:
    held = lanes.prefetch(["p1.sms", "p2.sms", "p3.sms"], slots=4)
    assert held == {"p1.sms": 4, "p2.sms": 4, "p3.sms": 1}
