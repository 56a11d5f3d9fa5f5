"""A producer learns of each status change, whoever is killed between the call and the settle.

A worker that dies during a call repeats the message with the same `webhook-id`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import orjson

from notifyproj.devstack.demo.environment import until
from providers.conformance import Act
from tests.providers.fakes import HttpFake
from tests.scenarios.world import World


def _told(receiver: HttpFake) -> dict[str, dict[str, str]]:
    """Return the data of the messages at the receiver, by message id."""
    return {
        request.headers["webhook-id"]: orjson.loads(request.body)["data"]
        for request in receiver.requests
    }


def test_each_change_arrives_although_the_worker_is_killed(
    webhook_world: World, receiver: HttpFake
) -> None:
    world = webhook_world
    somebody = world.person(email="x@sandbox.example")
    receiver.act(Act.HANG)
    sent = {str(each) for each in world.send_mails(20, user_id=somebody)}
    until(lambda: receiver.requests, what="calls are in flight")
    world.processes["ops"].kill()
    in_flight = set(receiver.keys)
    receiver.act(Act.ACCEPT)
    world.rows("UPDATE webhook_message SET due_at = now() WHERE due_at > now()")  # leases end
    world.start("ops")

    def is_complete() -> bool:
        told = _told(receiver).values()
        return sent <= {each["notification_id"] for each in told if each["status"] == "delivered"}

    until(is_complete, what="each notification is told to be delivered")
    states = "SELECT DISTINCT state FROM webhook_message"  # a later change adds a message
    until(lambda: world.rows(states) == [{"state": "sent"}], what="each message is sent")
    found = _told(receiver)
    changes = [(each["delivery_id"], each["status"], each["reason"]) for each in found.values()]
    assert len(changes) == len(set(changes))  # one id for each change
    assert in_flight <= set(found)
    assert all(receiver.keys.count(each) == 2 for each in in_flight)  # killed, then repeated


def test_the_sandbox_shows_and_verifies_the_status_webhooks_of_an_endpoint(
    webhook_world: World,
) -> None:
    world = webhook_world
    orders = world.service("order-service")
    made = orders.ask("POST", "/v1/webhook-endpoints", {"url": f"{world.sandbox.url}/webhooks"})
    try:
        sent = str(world.send_mails(1, user_id=world.person(email="x@sandbox.example"))[0])

        def told() -> list[dict[str, Any]]:
            found = world.sandbox.ask("GET", "/webhooks.json").body["webhooks"]
            return [each for each in found if each["body"]["data"].get("notification_id") == sent]

        until(
            lambda: {"notification.delivered"} <= {each["body"]["type"] for each in told()},
            what="the change is told",
        )
        assert {each["signature"] for each in told()} == {"no secret"}
        _enter_secret(world, "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=")
        assert {each["signature"] for each in told()} == {"webhook-signature does not match"}
        _enter_secret(world, made.body["secret"])
        assert {each["signature"] for each in told()} == {"verified"}
        assert {each["call"] for each in told()} == {1}
    finally:
        orders.ask("DELETE", f"/v1/webhook-endpoints/{made.body['id']}")


def _enter_secret(world: World, secret: str) -> None:
    """Send the form of the sandbox's page."""
    asked = Request(  # noqa: S310 - the sandbox of this test
        f"{world.sandbox.url}/webhooks/secret", data=urlencode({"secret": secret}).encode()
    )
    with urlopen(asked) as page:  # noqa: S310 - the sandbox of this test
        assert b"Status webhooks" in page.read()
