"""In-app messages arrive once in the inbox, and chains go on exactly if nobody has looked.

killed between the item's commit and the settle    one item, status sent
1,000 messages, workers killed on the way          1,000 items, exact counts
in_app -> push, nobody looks                       the push leaves after the window
in_app -> push, somebody has looked                no push leaves
read in the inbox                                  the push of the notification is read and removed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from notifications.core.rules.ids import delivery_id
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from providers.contract import Channel
from tests.scenarios.world import World

_MANY = 1_000
_PEOPLE = 20


def _request(user_id: str, **fields: object) -> dict[str, object]:
    return {
        "user_id": user_id,
        "type": "ORDER_SHIPPED",
        "priority": "P1",
        "channels": ["in_app"],
        "content": {"title": "On its way", "body": "Your order is on its way.", "url": "/orders/1"},
        **fields,
    }


def _send(
    world: World, requests: Sequence[dict[str, object]], *, service: str = "order-service"
) -> list[UUID]:
    return [UUID(each) for each in world.service(service).notify_all(list(requests))]


def _items(world: World, notifications: Sequence[UUID]) -> list[dict[str, Any]]:
    return world.rows(
        "SELECT * FROM inbox_item WHERE notification_id = ANY(%s)", list(notifications)
    )


def _status(world: World, notification: UUID, channel: Channel) -> Status | None:
    rows = [row for row in world.deliveries([notification]) if row["channel"] == channel.value]
    return Status(rows[0]["status"]) if rows else None


def _mark(world: World, user_id: str, notification: UUID, mark: str) -> None:
    path = f"/v1/inbox/{user_id}/{delivery_id(notification, 1)}/{mark}"
    world.service("operator").ask("POST", path, {})


def test_killed_between_the_item_and_the_settle_leaves_one_item(world: World) -> None:
    somebody = world.person()
    with world.locked("attempt"):
        [sent] = _send(world, [_request(somebody)])
        until(lambda: _items(world, [sent]), what="the item is in the inbox")
        assert world.statuses([sent]) == [Status.SENDING]
        for name in ("p0", "channels"):
            world.processes[name].kill()
    world.start("p0", "channels")
    world.expire_waits([sent])
    world.in_status(Status.SENT, [sent])
    assert len(_items(world, [sent])) == 1
    [head] = world.rows(
        "SELECT * FROM inbox WHERE recipient_id = %s", _items(world, [sent])[0]["recipient_id"]
    )
    assert (head["unread"], head["total"]) == (1, 1)


def test_a_thousand_messages_are_a_thousand_items_though_workers_die(world: World) -> None:
    people = [world.person() for _ in range(_PEOPLE)]
    requests = [_request(people[number % _PEOPLE], priority="P2") for number in range(_MANY)]
    sent = _send(world, requests)
    until(lambda: len(_items(world, sent)) > _MANY // 10, what="a tenth has arrived")
    world.kill_and_restart(world.processes["channels"], world.processes["p0"])
    world.forget_the_killed(sent)
    world.in_status(Status.SENT, sent)
    items = _items(world, sent)
    assert len(items) == _MANY
    heads = world.rows(
        "SELECT unread, total FROM inbox WHERE recipient_id = ANY(%s)",
        list({item["recipient_id"] for item in items}),
    )
    assert [(head["unread"], head["total"]) for head in heads] == [
        (_MANY // _PEOPLE, _MANY // _PEOPLE)
    ] * _PEOPLE


def test_a_chain_goes_on_to_push_if_nobody_has_looked(world: World) -> None:
    somebody = world.person(push="phone.receipt-never")
    chain = {"channels": ["in_app", "push"], "fallback_chain": True, "priority": "P0"}
    [sent] = _send(world, [_request(somebody, **chain)], service="auth-service")
    until(lambda: _status(world, sent, Channel.PUSH) is Status.SENT, what="the push has left")
    assert _status(world, sent, Channel.IN_APP) is Status.UNCONFIRMED
    assert len(_items(world, [sent])) == 1
    _mark(world, somebody, sent, "read")
    until(lambda: set(world.statuses([sent])) == {Status.READ}, what="both are read")
    until(lambda: "withdrawn" in world.reasons(sent), what="the push is removed from the phone")


def test_a_chain_ends_when_somebody_has_looked(world: World) -> None:
    somebody = world.person(push="phone")
    chain = {"channels": ["in_app", "push"], "fallback_chain": True}
    [sent] = _send(world, [_request(somebody, **chain)])
    world.in_status(Status.SENT, [sent])
    _mark(world, somebody, sent, "seen")
    until(lambda: _status(world, sent, Channel.IN_APP) is Status.DELIVERED, what="it is delivered")
    world.expire_waits([sent])
    [row] = world.deliveries([sent])
    assert (row["channel"], row["due_at"]) == (Channel.IN_APP.value, None)
    assert not world.got([sent])
