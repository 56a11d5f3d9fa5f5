"""Batches that meet on the same ordering keys, in threads with connections of their own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Caller
from notifications.core.models import Delivery, Notification, OrderedDelivery, OrderingKey
from notifications.core.rules import ids, request
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.sweeps import due_rows
from tests.journey import Reach

KEYS = [f"key-{number}" for number in range(20)]


@pytest.mark.django_db(transaction=True)
def test_two_batches_in_opposite_order_both_come_in_and_each_keeps_its_own_order(
    caller: Caller, reach: Reach
) -> None:
    reach(email="maria@sandbox.example")
    rounds = 5
    start = Barrier(2)

    def batch(keys: list[str]) -> list[bool]:
        asked = [_asked(key) for key in keys]
        came = []
        try:
            for _ in range(rounds):
                start.wait(timeout=20)
                came += [isinstance(each, AcceptedRequest) for each in accept.accept(caller, asked)]
        finally:
            connection.close()
        return came

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(batch, keys) for keys in (KEYS + KEYS, [*reversed(KEYS), *KEYS])]
        came = [answer for each in both for answer in each.result(timeout=60)]
    assert came == [True] * (2 * rounds * 2 * len(KEYS))
    names = dict(Notification.objects.values_list("id", "ordering_key"))
    for key in KEYS:
        line = [
            place.delivery_id
            for place in OrderedDelivery.objects.filter(key__key=key).order_by("id")
        ]
        assert {names[ids.notification_of(each)] for each in line} == {key}
        assert Delivery.objects.filter(id__in=line).count() == len(line) == 2 * rounds * 2


def _asked(key: str) -> request.NotificationRequest:
    body = {"user_id": "maria", "type": "LIKE", "template_id": "otp", "ordering_key": key}
    wanted = request.parse({
        **body,
        "variables": {"name": "Ana", "code": "4711"},
        "channels": ["email"],
    })
    assert not isinstance(wanted, Problem), wanted
    return wanted


@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_joined_while_the_sweep_looks_is_looked_at_again(
    caller: Caller, reach: Reach
) -> None:
    reach(email="maria@sandbox.example")
    rounds = 15
    start = Barrier(2)

    def join() -> None:
        try:
            for _ in range(rounds):
                start.wait(timeout=20)
                accept.accept(caller, [_asked("key")])
        finally:
            connection.close()

    def sweep() -> None:
        try:
            for _ in range(rounds):
                Delivery.objects.update(status=Status.CANCELLED, due_at=None)
                OrderingKey.objects.filter(look_at__isnull=False).update(look_at=clock.now())
                start.wait(timeout=20)
                due_rows.advance_ordering(now=clock.now(), limit=10)
                has_place = OrderedDelivery.objects.exists()
                assert not has_place or OrderingKey.objects.exclude(look_at=None).exists()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(sweep), pool.submit(join)]:
            each.result(timeout=60)
