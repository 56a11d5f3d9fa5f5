"""An edit of a template: what was accepted before it has the old words, what comes after the new.

Accepting pins the version, so it does not matter which worker sends a message, when, or how often
workers are killed meanwhile. Two web processes accept: both hear of the edit within two seconds,
with the state instance and without it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID, uuid4

import pytest

from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import Service, until
from notifyproj.devstack.ports import LOOPBACK, free_port
from tests.scenarios.world import World

_IN_FORCE: Final = timedelta(seconds=30)
_EACH: Final = 40
"""Mails that each web process takes before and after the edit."""
_ADDRESS: Final = "x+slow-200ms+receipt-never@sandbox.example"


@dataclass
class _Editing:
    """A template, the person who gets it, and what both web processes have accepted."""

    world: World
    user_id: str
    webs: Sequence[str]
    """Where they listen."""
    template_id: str = field(default_factory=lambda: f"edited_{uuid4().hex[:12]}")
    version: int = 0

    def publish(self) -> int:
        """Publish a version whose text has the number of the version; returns the number."""
        self.version += 1
        text = {"channel": "email", "title": "An edit", "body": f"version {self.version}"}
        operator = self.world.service("operator")
        draft = {"template_id": self.template_id, "texts": [text]}
        operator.ask("POST", "/v1/templates", draft)
        operator.ask("POST", f"/v1/templates/{self.template_id}/publish", {"version": self.version})
        return self.version

    def accept(self, count: int, *, web: str, priority: str = "P2") -> list[UUID]:
        """Post notifications to one of the web processes."""
        name = "auth-service" if priority == "P0" else "order-service"
        service: Service = replace(self.world.service(name), url=web)
        mail = self.world.mail(
            self.user_id, template_id=self.template_id, priority=priority, variables={}
        )
        return [UUID(each) for each in service.notify_all([mail] * count)]

    def accept_everywhere(self) -> list[UUID]:
        """Mails and some codes, at each web process."""
        return [
            each
            for web in self.webs
            for priority, count in (("P2", _EACH), ("P0", 4))
            for each in self.accept(count, web=web, priority=priority)
        ]

    def until_in_force(self) -> list[UUID]:
        """Hand in one after the other until each web process takes the newest; returns them all."""
        taken: list[UUID] = []

        def has_it(web: str) -> bool:
            taken.extend(self.accept(1, web=web))
            return self.pinned(taken[-1:]) == [self.version]

        for web in self.webs:
            until(partial(has_it, web), what="the edit is in force", within=_IN_FORCE)
        return taken

    def pinned(self, notifications: Sequence[UUID]) -> list[int]:
        """The version of each."""
        found = self.world.rows(
            "SELECT n.id, t.version FROM notification n JOIN notifications_template t"
            " ON t.id = n.template WHERE n.id = ANY(%s)",
            list(notifications),
        )
        versions = {row["id"]: row["version"] for row in found}
        return [versions[each] for each in notifications]

    def said(self, notifications: Sequence[UUID]) -> list[str]:
        """What the person read in each."""
        got = self.world.got(notifications)
        return [got[each]["body"].strip() for each in notifications]


@pytest.fixture
def editing(world: World) -> _Editing:
    """One whose first version is published, with a second web process."""
    ports = replace(world.ports, web=free_port("a second web process"))
    world.start_extra("web", ports=ports)
    webs = (world.url, f"http://{LOOPBACK}:{ports.web}")
    made = _Editing(world, world.person(email=_ADDRESS), webs)
    made.publish()
    return made


@pytest.fixture
def _state_comes_back(world: World) -> Iterator[None]:
    yield
    world.stack.state.start()


def test_a_backlog_keeps_its_words_in_all_workers_killed_or_not(
    world: World, editing: _Editing
) -> None:
    workers = [
        world.processes["p0"],
        world.processes["channels"],
        *world.start_extra("transactional"),
    ]
    known = editing.accept_everywhere()
    world.in_status(Status.SENT, known)  # now every process has the first version in mind
    for worker in workers:
        worker.signal(signal.SIGSTOP)
    before = editing.accept_everywhere()
    editing.publish()
    between = editing.until_in_force()
    after = editing.accept_everywhere()
    for worker in workers:
        worker.signal(signal.SIGCONT)
    every = [*known, *before, *between, *after]
    world.until_more_than(len(known), every)
    world.kill_and_restart(*workers[:2])  # with nothing in mind, and the third with all
    world.forget_the_killed(every)
    world.in_status(Status.SENT, every)
    assert editing.said([*known, *before]) == ["version 1"] * len([*known, *before])
    assert editing.said(between) == [f"version {each}" for each in editing.pinned(between)]
    assert editing.said(after) == ["version 2"] * len(after)
    assert world.shown(every) == [1] * len(every)


@pytest.mark.usefixtures("_state_comes_back")
def test_an_edit_that_nobody_can_be_told_of_is_in_force_within_two_seconds(
    world: World, editing: _Editing
) -> None:
    before = editing.accept_everywhere()
    world.stack.state.kill()
    editing.publish()
    between = editing.until_in_force()
    after = editing.accept_everywhere()
    world.kill_and_restart(world.processes["web"])
    after += editing.accept(_EACH, web=world.url)
    every = [*before, *between, *after]
    world.in_status(Status.SENT, every)
    assert editing.said(before) == ["version 1"] * len(before)
    assert editing.said(between) == [f"version {each}" for each in editing.pinned(between)]
    assert editing.said(after) == ["version 2"] * len(after)
