"""Four processes of each kind share the sweeps, and nothing is done twice.

Four `ops` (sweeps and status webhooks), four `expand` and four beats work at the same time on 400
notifications that come due in one moment, on a bulk job, on a schedule and on the webhooks of all
changes. Four `live` have a stream each of one inbox. One of each kind is killed meanwhile.
"""

from __future__ import annotations

import http.client
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import cycle
from typing import Any, Final
from uuid import UUID

import orjson
import pytest

from notifications.core.rules.ids import delivery_id
from notifications.core.rules.states import Status
from notifyproj.devstack.demo.environment import Http, now, pause, until
from notifyproj.devstack.ports import free_port
from notifyproj.devstack.supervisor.process import Process
from tests.features.inbox.live.sse import StreamClient, StreamRefused
from tests.providers.fakes import HttpFake
from tests.scenarios import bulk_jobs
from tests.scenarios.settings import PRIVATE_WEBHOOKS
from tests.scenarios.world import World

_PATIENCE: Final = timedelta(seconds=120)
_SCHEDULED: Final = 400
_RECIPIENTS: Final = 60
_LIVE: Final = 4
_IN_APP: Final = 20
"""Messages of a batch; a stream that missed more than 50 changes would load the page again."""
_DAY: Final = timedelta(days=1)


@pytest.mark.usefixtures("provider_shows_repeats")
def test_what_four_of_each_do_at_the_same_time_is_done_once(
    webhook_world: World, receiver: HttpFake
) -> None:
    world = webhook_world
    ops = world.start_extra("ops", "ops", "ops", environ=PRIVATE_WEBHOOKS)
    expanders = world.start_extra(*["expand"] * 4)
    beats = world.start_extra(*["beat"] * 3)
    person = world.person(email="x@sandbox.example")
    moment = now() + timedelta(seconds=8)
    scheduled = world.send_mails(_SCHEDULED, user_id=person, scheduled_at=moment.isoformat())
    people = [world.person(email=f"r{number}@sandbox.example") for number in range(_RECIPIENTS)]
    schedule = _new_schedule(world, people[0])
    job = bulk_jobs.start(world, people)
    until(lambda: _any_sent(world, scheduled), what="the release has begun")
    world.kill_and_restart(ops[0], expanders[0], beats[0])

    until(lambda: _job_state(world, job) == "finished", what="the job ends", within=_PATIENCE)
    of_job = [row["id"] for row in _notifications_of(world, job)]
    world.in_status(Status.DELIVERED, [*scheduled, *of_job], within=_PATIENCE)
    assert len(of_job) == _RECIPIENTS
    assert world.shown([*scheduled, *of_job]) == [1] * (_SCHEDULED + _RECIPIENTS)
    _each_occurrence_has_one_notification(world, schedule)
    _each_change_is_told_once(receiver, scheduled)
    until(lambda: all(map(_has_swept, ops)), what="each ops process had work")


def test_streams_of_four_live_processes_get_each_message_once(world: World) -> None:
    ports = [free_port(f"{world.var}/live_{number}") for number in range(_LIVE)]
    live = [world.start_extra("live", ports=replace(world.ports, live=port)) for port in ports]
    person = world.person()
    with ExitStack() as ends:
        windows = [
            ends.enter_context(closing(_Window(world, person, ports[number:] + ports[:number])))
            for number in range(_LIVE)
        ]
        sent = _send_in_app(world, person)
        live[0][0].kill()
        sent += _send_in_app(world, person)
        _each_has_come_once(windows, sent)
        sent += _send_in_app(world, person)
        _each_has_come_once(windows, sent)
        assert [each.used for each in windows] == [ports[:2], *([port] for port in ports[1:])]


class _Window:
    """A page with the inbox of a person, and a stream of the first process that answers."""

    def __init__(self, world: World, user_id: str, ports: Sequence[int]) -> None:
        asked = {"scopes": ["inbox:read"]}
        path = f"/v1/recipients/{user_id}/client-tokens"
        self._token = world.service("operator").ask("POST", path, asked).body["token"]
        self._page = Http(world.url, {"Authorization": f"Bearer {self._token}"})
        self._ports = cycle(ports)
        self._came: Counter[str] = Counter()
        self.used: list[int] = []
        """Ports of the processes that answered."""
        self._version = self._load()
        self._connect()

    def came(self) -> Counter[str]:
        """Return how often each message has come; connect to the next process after an end."""
        is_closed, events = self._stream.is_closed, self._stream.events[self._place :]
        self._place += len(events)
        for event in events:
            if event.name == "reset":
                self._version = self._load()
            elif event.name == "changes":
                self._came.update(item["message_id"] for item in event.data["items"])
                self._version = int(event.id)
        if is_closed:
            self.close()
            self._connect()
        return self._came

    def close(self) -> None:
        self._stream.close()

    def _load(self) -> int:
        page = self._page.ask("GET", "/v1/inbox/me").body
        self._came.update({item["message_id"] for item in page["results"]} - self._came.keys())
        version: int = page["version"]
        return version

    def _connect(self) -> None:
        self._place = 0
        for port in self._ports:
            with suppress(OSError, http.client.HTTPException, StreamRefused):
                self._stream = StreamClient(port, self._token, since=self._version)
                self.used.append(port)
                return
            pause()


def _send_in_app(world: World, user_id: str) -> list[UUID]:
    asked: dict[str, object] = {
        "user_id": user_id,
        "type": "ORDER_SHIPPED",
        "priority": "P1",
        "channels": ["in_app"],
        "content": {"title": "On its way", "body": "Your order is on its way."},
    }
    return [UUID(each) for each in world.service("order-service").notify_all([asked] * _IN_APP)]


def _each_has_come_once(windows: Sequence[_Window], sent: Sequence[UUID]) -> None:
    wanted = {str(delivery_id(each, 1)): 1 for each in sent}
    until(
        lambda: all(each.came().keys() >= wanted.keys() for each in windows),
        what="each message comes",
    )
    assert [each.came() for each in windows] == [wanted] * len(windows)


def _new_schedule(world: World, person: str) -> dict[str, Any]:
    asked = {
        "name": person,
        "rrule": "FREQ=MINUTELY;INTERVAL=30",
        "timezone": "UTC",
        "starts_at": (now() - timedelta(minutes=15)).isoformat(),
        "notification": world.mail(person),
    }
    return world.service("order-service").ask("POST", "/v1/schedules", asked).body


def _any_sent(world: World, notifications: list[UUID]) -> bool:
    return not {Status.SENT, Status.DELIVERED}.isdisjoint(world.statuses(notifications))


def _job_state(world: World, job: str) -> str:
    state: str = world.service("marketing").ask("GET", f"/v1/bulk-jobs/{job}").body["state"]
    return state


def _notifications_of(world: World, job: str) -> list[dict[str, Any]]:
    return world.rows("SELECT id FROM notification WHERE bulk_job_id = %s", UUID(job))


def _each_occurrence_has_one_notification(world: World, schedule: dict[str, Any]) -> None:
    """Wait for the occurrences of the coming day; then pause the schedule."""
    query = "SELECT at, notification_id FROM notifications_occurrence WHERE schedule_id = %s"
    wanted = _DAY // timedelta(minutes=30)
    until(
        lambda: len(world.rows(query, schedule["id"])) >= wanted,
        what=f"{wanted} occurrences are made",
        within=_PATIENCE,
    )
    made = world.rows(query, schedule["id"])
    name = schedule["name"]
    found = world.rows(
        "SELECT id FROM notification WHERE user_id = %s AND bulk_job_id IS NULL", name
    )
    assert sorted(row["id"] for row in found) == sorted(row["notification_id"] for row in made)
    assert len({row["at"] for row in made}) == len(made)
    world.service("order-service").ask("PATCH", f"/v1/schedules/{schedule['id']}", {"paused": True})


def _each_change_is_told_once(receiver: HttpFake, notifications: list[UUID]) -> None:
    """Wait until each delivery is told; a killed process may repeat a message with its id."""
    wanted = set(map(str, notifications))

    def delivered() -> list[str]:
        bodies = {each.headers["webhook-id"]: each.body for each in receiver.requests}
        told = [orjson.loads(body)["data"] for body in bodies.values()]
        return [
            each["notification_id"]
            for each in told
            if each["notification_id"] in wanted and each["status"] == "delivered"
        ]

    until(lambda: wanted <= set(delivered()), what="each delivery is told", within=_PATIENCE)
    assert Counter(delivered()) == dict.fromkeys(wanted, 1)


def _has_swept(process: Process) -> bool:
    return '"swept"' in process.log.read_text()
