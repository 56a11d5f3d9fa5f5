"""The notice to the old address of a changed contact, through a real worker to the provider."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

import pytest

from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_WORDS: Final = "Another address was set for your account."


@pytest.fixture(autouse=True)
def _template(world: World) -> None:
    operator = world.service("operator")
    text = {"channel": "email", "title": "Your account", "body": _WORDS}
    draft = operator.ask(
        "POST", "/v1/templates", {"template_id": "contact_changed", "texts": [text]}
    )
    operator.ask(
        "POST", "/v1/templates/contact_changed/publish", {"version": draft.body["version"]}
    )


def _change(world: World, user_id: str, *, way: str, old: str, new: str) -> None:
    operator = world.service("operator")
    path = f"/v1/recipients/{user_id}"
    contact = {"channel": "email", "address": new, "primary": True}
    match way:
        case "a new primary":
            operator.ask("POST", f"{path}/contacts", contact)
        case "removed":
            found = operator.ask("GET", path).body["contacts"]
            [of_old] = [each["id"] for each in found if each["address"] == old]
            operator.ask("DELETE", f"{path}/contacts/{of_old}")
        case _:
            operator.ask("PUT", path, {"contacts": [contact]})


@pytest.mark.parametrize("way", ["a new primary", "removed", "replaced"])
def test_the_old_mailbox_gets_the_notice_and_the_new_one_does_not(world: World, way: str) -> None:
    run = uuid4().hex[:12]
    old, new = f"old-{run}@sandbox.example", f"new-{run}@sandbox.example"
    user_id = world.person(email=old)
    _change(world, user_id, way=way, old=old, new=new)

    def arrived() -> list[dict[str, Any]]:
        return [each for each in world.sandbox.messages() if run in each["address"]]

    messages = until(arrived, what="the notice arrives")
    assert [(each["address"], each["body"].strip()) for each in messages] == [(old, _WORDS)]
