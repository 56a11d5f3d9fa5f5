"""A stream, from the first event to the last."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Final

import psutil
import pytest
import redis

from notifications.features.inbox.rows import reads, writes
from notifications.features.inbox.rules.words import InboxAction
from notifyproj.devstack.demo.environment import until
from tests.features.inbox.live.conftest import LiveProcess, MakeLive, Member, new_item
from tests.features.inbox.live.sse import StreamRefused

_DROPPED: Final = 'notifications_live_ended_total{reason="slow_reader"}'


def test_a_client_gets_hello_and_then_each_change_once(live: LiveProcess, ana: Member) -> None:
    [before] = ana.add()
    client = live.connect(ana.token)
    hello = client.wait_for("hello")
    assert (hello.data["version"], hello.data["counts"]["unread"]) == (1, 1)
    assert hello.data["heartbeat_seconds"] == 2
    assert client.retry >= 1000
    [added] = ana.add()
    changes = client.wait_for("changes")
    assert [item["message_id"] for item in changes.data["items"]] == [str(added)]
    assert (changes.id, changes.data["version"], changes.data["counts"]["unread"]) == ("2", 2, 2)
    writes.mark(ana.id, InboxAction.READ, ids=[before])
    client.wait_for_version(3)
    assert client.names() == ["hello", "changes", "changes"]


def test_changes_between_the_page_and_the_stream_come_at_once(
    live: LiveProcess, ana: Member
) -> None:
    ana.add(2)
    version = reads.counts(ana.id).version
    added = ana.add(3)
    client = live.connect(ana.token, since=version)
    changes = client.wait_for("changes")
    assert {item["message_id"] for item in changes.data["items"]} == {str(each) for each in added}
    assert client.names()[:2] == ["hello", "changes"]


def test_too_many_changes_and_unknown_versions_are_a_reset(live: LiveProcess, ana: Member) -> None:
    ana.add(54)
    version = reads.counts(ana.id).version
    for since in (0, version + 7):
        client = live.connect(ana.token, since=since)
        reset = client.wait_for("reset")
        assert (reset.id, reset.data["version"]) == (str(version), version)
        assert reset.data["counts"]["unread"] == version
        ana.add()
        version += 1
        client.wait_for_version(version)
        assert client.names() == ["hello", "reset", "changes"]


def test_a_mark_on_one_connection_clears_the_badge_on_the_others(
    live: LiveProcess, ana: Member
) -> None:
    ana.add(3)
    clients = [live.connect(ana.token) for _ in range(3)]
    for client in clients:
        assert client.wait_for("hello").data["counts"]["unread"] == 3
    writes.mark(ana.id, InboxAction.READ)
    for client in clients:
        changes = client.wait_for("changes")
        assert changes.data["counts"]["unread"] == 0
        assert len(changes.data["items"]) == 3


def test_an_item_that_is_withdrawn_is_removed(live: LiveProcess, ana: Member) -> None:
    item = new_item(ana.id)
    writes.add([item])
    client = live.connect(ana.token)
    client.wait_for("hello")
    writes.withdraw([item.notification_id])
    changes = client.wait_for("changes")
    assert (changes.data["items"], changes.data["removed"]) == ([], [str(item.id)])


def test_events_of_others_do_not_come(live: LiveProcess, make_person: Callable[[], Member]) -> None:
    ana, bob = make_person(), make_person()
    client = live.connect(ana.token)
    client.wait_for("hello")
    bob.add()
    ana.add()
    client.wait_for("changes")
    assert client.names() == ["hello", "changes"]
    assert client.wait_for("changes").data["version"] == 1


def test_heartbeats_come_without_events(live: LiveProcess, ana: Member) -> None:
    client = live.connect(ana.token)
    client.until(lambda: client.heartbeats >= 2 or None, "heartbeats")
    assert client.names() == ["hello"]


def test_the_oldest_stream_of_a_recipient_ends(make_live: MakeLive, ana: Member) -> None:
    live = make_live(NOTIFY_LIVE_CONNECTIONS_PER_RECIPIENT="2")
    first, second = live.connect(ana.token), live.connect(ana.token)
    for client in (first, second):
        client.wait_for("hello")
    third = live.connect(ana.token)
    goodbye = first.wait_for("goodbye")
    assert goodbye.data["reason"] == "too_many_connections"
    first.wait_for_end()
    third.wait_for("hello")
    ana.add()
    for client in (second, third):
        client.wait_for("changes")


def test_a_process_without_room_answers_503(
    make_live: MakeLive, make_person: Callable[[], Member]
) -> None:
    live = make_live(NOTIFY_LIVE_CONNECTIONS="16")
    for _ in range(16):
        live.connect(make_person().token).wait_for("hello")
    late = make_person()
    with pytest.raises(StreamRefused) as refused:
        live.connect(late.token)
    assert refused.value.status == 503
    assert int(refused.value.headers["retry-after"]) >= 1
    assert refused.value.body["code"] == "unavailable"
    live.clients[0].close()
    until(lambda: _accepts(live, late.token), what="a free place")


def _accepts(live: LiveProcess, token: str) -> bool:
    try:
        live.connect(token)
    except StreamRefused:
        return False
    return True


def test_a_disconnected_client_is_forgotten(live: LiveProcess, ana: Member) -> None:
    client = live.connect(ana.token)
    client.wait_for("hello")
    assert live.ready()["connections"] == 1
    client.close()
    until(lambda: live.ready()["connections"] == 0, what="no connection")
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as state:
        until(lambda: not state.pubsub_channels(f"inbox:{ana.id}"), what="no subscription")


def test_a_client_that_does_not_read_is_dropped_and_costs_no_memory(
    make_live: MakeLive, make_person: Callable[[], Member]
) -> None:
    live = make_live(NOTIFY_LIVE_SEND_SECONDS="4")
    ana, bob = make_person(), make_person()
    live.connect(bob.token).wait_for("hello")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", live.port))
    head = (
        f"GET /v1/inbox/me/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {ana.token}\r\n\r\n"
    )
    slow.sendall(head.encode())
    fast = live.connect(ana.token)
    fast.wait_for("hello")
    before = _memory(live)
    for number in range(100):
        writes.add([new_item(ana.id, body="x" * 4000) for _ in range(40)])
        if number < 3:  # the slow client gets no bytes of the changes after these
            fast.wait_for_version(reads.counts(ana.id).version)
    fast.wait_for_version(reads.counts(ana.id).version)
    assert _memory(live) - before < 6_000, "KiB, of 16 MB"
    until(lambda: live.metric(_DROPPED) == 1, what="the end of the slow stream")
    slow.close()
    ana.add()
    fast.wait_for_version(reads.counts(ana.id).version)
    assert live.ready()["connections"] == 2


def _memory(live: LiveProcess) -> int:
    """Resident KiB of the process."""
    assert live.process.pid is not None
    return psutil.Process(live.process.pid).memory_info().rss // 1024
