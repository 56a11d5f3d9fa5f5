"""A live process and its servers are killed, frozen and restarted: no stream lacks an event."""

from __future__ import annotations

import asyncio
import signal
import statistics
import threading
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import pytest
from django.db import connection, connections

from notifications.core import clock
from notifications.features.inbox.rows import cache, reads, writes
from notifications.features.inbox.rows.items import NewItem
from notifications.features.inbox.rules.words import InboxAction
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from tests.features.inbox.live.conftest import LiveProcess, MakeLive, Member, new_item
from tests.features.inbox.live.followers import Follower, shown
from tests.features.inbox.live.many import RawStream

T = TypeVar("T")


@pytest.fixture
def live(make_live: MakeLive) -> LiveProcess:
    """A live process of the test alone, which stops, kills or freezes it."""
    return make_live()


def test_a_process_that_stops_says_goodbye(
    live: LiveProcess, make_person: Callable[[], Member]
) -> None:
    clients = [live.connect(make_person().token) for _ in range(40)]
    for client in clients:
        client.wait_for("hello")
    live.process.stop()
    retries = []
    for client in clients:
        goodbye = client.wait_for("goodbye")
        assert goodbye.data["reason"] == "restart"
        retries.append(goodbye.data["retry_ms"])
        client.wait_for_end()
    assert min(retries) >= 1000
    assert statistics.pstdev(retries) > 300, "clients would return in one moment"


def test_a_client_of_a_killed_process_goes_on_where_it_was(live: LiveProcess, ana: Member) -> None:
    first = live.connect(ana.token)
    first.wait_for("hello")
    ana.add()
    version = first.wait_for("changes").data["version"]
    live.process.kill()
    first.wait_for_end()
    missed = ana.add(3)
    live.process.start()
    live.process.wait_ready()
    second = live.connect(ana.token, since=version)
    items = second.wait_for("changes").data["items"]
    assert {item["message_id"] for item in items} == {str(each) for each in missed}


def test_a_frozen_process_loses_nothing(live: LiveProcess, ana: Member) -> None:
    client = live.connect(ana.token)
    client.wait_for("hello")
    assert live.process.pid is not None
    live.process.signal(signal.SIGSTOP)
    try:
        ana.add(5)
        writes.mark(ana.id, InboxAction.SEEN)
    finally:
        live.process.signal(signal.SIGCONT)
    client.wait_for_version(reads.counts(ana.id).version)
    found = [item["message_id"] for each in client.events for item in each.data.get("items", [])]
    assert len(set(found)) == 5


def test_streams_outlive_the_state_instance(live: LiveProcess, ana: Member, stack: Stack) -> None:
    client = live.connect(ana.token)
    client.wait_for("hello")
    stack.state.kill()
    try:
        until(lambda: live.ready()["state"] == "away", what="the loss")
        assert live.metric("notifications_live_state_up") == 0
        assert "versions are compared" in live.ready()["wrong"][0]
        late = live.connect(ana.token)
        late.wait_for("hello")
        ana.add()
        for each in (client, late):
            each.wait_for("changes")
    finally:
        stack.state.start()
    until(lambda: live.ready()["state"] == "ok", what="the return")
    ana.add()
    client.wait_for_version(2)
    assert client.names() == ["hello", "changes", "changes"]


def test_streams_outlive_the_database(live: LiveProcess, ana: Member, stack: Stack) -> None:
    client = live.connect(ana.token)
    client.wait_for("hello")
    stack.postgres.kill()
    try:
        until(lambda: live.ready()["database"] == "away", what="the loss")
        before = client.heartbeats
        client.until(lambda: client.heartbeats > before + 1 or None, "heartbeats")
        assert live.metric("notifications_live_database_up") == 0
    finally:
        stack.postgres.start()
        connections["default"].close()
    ana.add()
    client.wait_for("changes")
    assert live.ready()["database"] == "ok"


def test_a_database_that_lost_versions_is_a_reset(make_live: MakeLive, ana: Member) -> None:
    live = make_live()
    ana.add(5)
    client = live.connect(ana.token)
    client.wait_for("hello")
    with connection.cursor() as running:
        running.execute("UPDATE inbox SET version = 3 WHERE recipient_id = %s", [ana.id])
    cache.clear([ana.id], {})  # as after a restore, which empties the state instance
    assert client.wait_for("reset").data["version"] == 3
    ana.add()
    assert client.wait_for("changes").data["version"] == 4


def test_no_event_is_lost_and_none_comes_twice(
    make_live: MakeLive, make_person: Callable[[], Member], stack: Stack
) -> None:
    """A writer commits without a pause; the process and the state instance are killed."""
    live = make_live(NOTIFY_LIVE_HEARTBEAT_SECONDS="1")
    people = [make_person() for _ in range(4)]
    over = threading.Event()
    writer = threading.Thread(target=_write, args=(people, over))
    writer.start()
    followers = []
    try:
        for _ in range(3):
            for person in people:
                follower = Follower(person.id, port=live.port, token=person.token)
                follower.start()
                followers.append(follower)
            until(lambda: all(each.streams for each in followers), what="streams")
            _wait_for_commits(people[0])
            live.process.kill()
            live.process.start()
            live.process.wait_ready()
            stack.state.kill()
            until(lambda: live.ready()["state"] == "away", what="the loss")
            stack.state.start()
    finally:
        over.set()
        writer.join(60)
    for follower in followers:
        expected, version = shown(follower.recipient_id)
        assert follower.wait_for(version) == expected
        assert follower.repeated == []
        follower.finish()
    assert sum(each.streams for each in followers) > len(followers)


def _wait_for_commits(person: Member) -> None:
    version = reads.counts(person.id).version
    until(lambda: reads.counts(person.id).version > version + 5, what="commits")


def _write(people: list[Member], over: threading.Event) -> None:
    """Add, mark, archive and withdraw by chance until `over`."""
    added: dict[int, list[NewItem]] = {person.id: [] for person in people}
    while not over.wait(0.005):
        person = pick(people)
        mine = added[person.id]
        if len(mine) < 5 or clock.jitter() < 0.5:
            items = [new_item(person.id) for _ in range(pick((1, 1, 1, 3)))]
            writes.add(items)
            mine.extend(items)
            continue
        item = pick(mine)
        action = pick([*_MARKS, None])
        if action is None:
            writes.withdraw([item.notification_id])
            mine.remove(item)
        else:
            writes.mark(person.id, action, ids=[item.id])
    connections["default"].close()


def pick(choices: Sequence[T]) -> T:
    return choices[int(clock.jitter() * len(choices))]


_MARKS: Final = (
    *(InboxAction.SEEN, InboxAction.READ, InboxAction.UNREAD),
    *(InboxAction.ARCHIVE, InboxAction.UNARCHIVE),
)


def test_a_thousand_streams(make_live: MakeLive, make_person: Callable[[], Member]) -> None:
    live = make_live()
    people = [make_person() for _ in range(100)]
    writes.add([new_item(person.id) for person in people])

    async def follow() -> list[int]:
        streams = [RawStream(live.port, people[number % 100].token) for number in range(1_000)]
        await asyncio.gather(*(each.open() for each in streams))
        await asyncio.gather(*(each.wait_for("hello") for each in streams))
        await asyncio.to_thread(_add_to_all, people)
        found = await asyncio.gather(*(each.wait_for("changes") for each in streams))
        for each in streams:
            each.close()
        return [data["version"] for data in found]

    assert asyncio.run(follow()) == [2] * 1_000
    until(lambda: live.ready()["connections"] == 0, what="no connection")


def _add_to_all(people: list[Member]) -> None:
    writes.add([new_item(person.id) for person in people])
    connections["default"].close()
