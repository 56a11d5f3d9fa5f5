"""A worker that works without the broker says so, although the other processes have the broker."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import until
from tests.scenarios.world import World

_WITHIN = timedelta(minutes=1)
"""The promise: the alert and `/readyz` have the fallback within a minute."""


def _ready(world: World) -> dict[str, Any]:
    return world.service("operator").ask("GET", "/readyz").body


def _told(world: World) -> list[str]:
    """Return what /readyz says about the worker of P0."""
    return [line for line in _ready(world)["wrong"] if line.startswith("p0@")]


def _open_alerts(world: World) -> list[str]:
    found = world.rows(
        "SELECT subject || ': ' || detail AS said FROM notifications_alert"
        " WHERE kind = 'broker_away' AND resolved_at IS NULL"
    )
    return [row["said"] for row in found]


def test_a_worker_whose_sign_in_is_refused_is_named_while_it_delivers(
    world: World, tmp_path: Path
) -> None:
    somebody = world.person(email="x@sandbox.example")
    folder, right = tmp_path / "flights", world.stack.broker.url
    # The web process and the other workers keep the right password.
    wrong = right.replace(world.stack.broker.password, "a-wrong-password")
    world.restart("p0", NOTIFY_FLIGHT_RECORDER=str(folder))
    before = [world.send_otp(somebody) for _ in range(3)]
    world.in_status(Status.DELIVERED, before)
    world.processes["p0"].kill()
    [notes] = folder.glob("*.calls")
    mistaken = world.process("p0", NOTIFY_FLIGHT_RECORDER=str(folder), CELERY_BROKER_URL=wrong)
    world.processes["p0"] = mistaken
    mistaken.start()  # is never ready
    # These messages wait in a queue of the broker that no worker consumes.
    world.in_status(Status.DELIVERED, [world.send_otp(somebody) for _ in range(3)])
    until(lambda: not notes.exists(), what="the notes of its predecessor are read")
    [said] = until(lambda: _told(world), what="/readyz names it", within=_WITHIN)
    assert "the broker refuses the sign-in" in said
    assert _open_alerts(world) == [said]
    assert (_ready(world)["status"], _ready(world)["broker"]) == ("degraded", "ok")
    assert "a-wrong-password" not in said
    assert "a-wrong-password" not in mistaken.text()
    world.restart("p0")
    until(lambda: not _open_alerts(world), what="its successor resolves the alert", within=_WITHIN)
    assert _told(world) == []
