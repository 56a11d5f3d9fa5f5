"""Messages of each queue that a worker holds on RabbitMQ, and pops of a paused queue on Redis."""

from __future__ import annotations

import pytest
from celery import current_app

from notifications.core import lanes
from tests.brokers import valkey_only


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


@valkey_only
def test_pops_are_short_while_a_queue_is_paused() -> None:
    """Else a resumed queue would wait for the end of a pop of the other queues."""
    with current_app.connection_for_read() as connection, connection.channel() as channel:
        lanes.poll_by(channel)
        usual = channel.brpop_timeout
        lanes.pause_queue("p2.email")
        assert 0 < channel.brpop_timeout < usual
        lanes.resume_queues(["email"])
        assert channel.brpop_timeout == usual
