"""A broker or state Redis with a full memory or disk is named, and takes writes again by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Final

import pytest
import redis

from notifications.core import broker, conf
from notifications.core.store.redis import state
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from notifyproj.devstack.servers.server import Server
from notifyproj.devstack.servers.valkey import Valkey
from tests.brokers import rabbitmq_only
from tests.small_disk import fill, make_room, mounted, needs_root

_MEBIBYTES: Final = 2


@pytest.fixture
def valkey(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Valkey]:
    """A state Redis of the test's own, which saves a snapshot a second after a change."""
    server = Valkey("full", place=stack.state.place, password="full", save="1 1")
    server.erase()
    with ExitStack() as ending:
        server.data.mkdir()
        ending.enter_context(mounted(server.data, mebibytes=_MEBIBYTES))
        ending.callback(server.kill)
        server.place.chown(server.data)
        server.start()
        changed = replace(conf.current(), state_url=server.url)
        monkeypatch.setattr(conf, "current", lambda: changed)
        state.forget()
        yield server
    monkeypatch.undo()
    state.forget()
    server.erase()


def _fault() -> str:
    state.forget()  # without the rest after a failure
    return state.probe()


@needs_root
def test_a_redis_with_a_full_disk_is_named_and_goes_on_after_room_is_made(valkey: Valkey) -> None:
    assert _fault() == ""
    fill(valkey.data)
    said = until(_fault, what="the refusal of a write")
    assert said == "takes no writes: it cannot save a snapshot, so make room on its disk"
    make_room(valkey.data)
    with redis.Redis.from_url(valkey.url) as client:
        client.bgsave()  # Valkey tries again by itself, after a minute
    until(lambda: not _fault(), what="the state Redis takes writes")


@needs_root
def test_a_redis_with_a_full_memory_is_named(valkey: Valkey) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        client.config_set("maxmemory", 1)
        assert _fault() == "takes no writes: its memory is full"
        client.config_set("maxmemory", 0)
    assert _fault() == ""


@contextmanager
def _disk_alarm(node: Server) -> Iterator[None]:
    """Ask for more room than each disk has."""
    assert isinstance(node, RabbitMQ)
    node.ctl("set_disk_free_limit", "999999GB")
    try:
        yield
    finally:
        node.ctl("set_disk_free_limit", "1MB")


@rabbitmq_only
def test_a_rabbitmq_with_a_full_disk_is_named_and_goes_on_after_room_is_made(stack: Stack) -> None:
    assert broker.probe()
    with _disk_alarm(stack.broker):
        until(lambda: not broker.probe(), what="the alarm blocks publishers")
        said = until(broker.fault, what="the reason")
        assert said == "takes no messages: an alarm of its memory or disk blocks publishers"
    until(broker.probe, what="the broker takes messages")
