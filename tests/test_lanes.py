"""Messages of each queue that a worker holds on RabbitMQ, and pops of a paused queue on Redis."""

from __future__ import annotations

import pytest
from celery import current_app

from notifications.core import lanes
from tests.brokers import valkey_only


@pytest.mark.parametrize("patient", range(1, 40))
def test_a_worker_of_p2_and_p3_holds_four_to_one_and_none_without_a_slot(patient: int) -> None:
    queues = ["p3.sms", "p2.sms", "test.p3.sms", "test.p2.sms"]
    held = lanes.prefetch(queues, slots=2 * patient, patient=patient)
    assert held["p2.sms"] == held["test.p2.sms"] == patient
    assert held["p3.sms"] == held["test.p3.sms"] == max(1, patient // 4)


@pytest.mark.parametrize("queues", [["p3.sms", "p3.email"], ["p2.sms"]])
def test_a_worker_holds_no_message_of_p2_or_p3_without_a_slot(queues: list[str]) -> None:
    assert lanes.prefetch(queues, slots=32, patient=4) == dict.fromkeys(queues, 4)


@pytest.mark.parametrize("queues", [["p0.sms", "p1.sms"], ["p1.sms", "ops"]])
def test_other_workers_hold_a_message_for_each_slot(queues: list[str]) -> None:
    assert lanes.prefetch(queues, slots=8, patient=4) == dict.fromkeys(queues, 8)


def test_p1_keeps_its_share_beside_p2_and_p3() -> None:
    held = lanes.prefetch(["p1.sms", "p2.sms", "p3.sms"], slots=32, patient=4)
    assert held == {"p1.sms": 32, "p2.sms": 4, "p3.sms": 1}


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
