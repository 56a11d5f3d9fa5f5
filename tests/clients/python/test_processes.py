"""Threads share a client; a process that was forked does not share its parent's connection."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from notify_client import AsyncClient, Client
from notifyproj.devstack.demo.environment import until
from tests.clients.python import relay as acts
from tests.clients.python.relay import Relay
from tests.clients.python.test_operations import MAIL
from tests.clients.service import Service


def test_threads_share_a_client(service: Service) -> None:
    reference = uuid4().hex
    to = {"email": f"{reference}@example.com"}

    def send(number: int) -> str:
        told = client.send(
            to={"email": to["email"]}, metadata={"reference": reference, "n": number}, **MAIL
        )
        read = client.notifications.get(told["notification_id"])
        assert read["metadata"]["n"] == number
        return told["notification_id"]

    with Client(service.url, service.key) as client, ThreadPoolExecutor(16) as pool:
        ids = set(pool.map(send, range(60)))
    assert len(ids) == service.count(reference) == 60


def test_tasks_share_a_client(service: Service) -> None:
    reference = uuid4().hex

    async def send(client: AsyncClient, number: int) -> str:
        told = await client.send(
            to={"email": f"{reference}@example.com"},
            metadata={"reference": reference, "n": number},
            **MAIL,
        )
        read = await client.notifications.get(told["notification_id"])
        assert read["metadata"]["n"] == number
        return told["notification_id"]

    async def all_of_them() -> set[str]:
        async with AsyncClient(service.url, service.key) as client:
            return set(await asyncio.gather(*(send(client, number) for number in range(60))))

    assert len(asyncio.run(all_of_them())) == service.count(reference) == 60


def test_event_loops_share_a_client(service: Service) -> None:
    client = AsyncClient(service.url, service.key)

    async def once() -> str:
        told = await client.me()
        await client.close()
        return told["producer"]

    assert [asyncio.run(once()) for _ in range(3)] == ["orders"] * 3


def test_a_cancelled_call_leaves_the_client_as_it_was(service: Service, relay: Relay) -> None:
    relay.plan(*[acts.hang_before] * 150)

    async def cancelled() -> str:
        async with AsyncClient(relay.url, service.key) as client:
            tasks = [asyncio.create_task(client.me()) for _ in range(150)]
            await asyncio.to_thread(until, lambda: len(relay.seen) > 50, what="calls are open")
            for task in tasks:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(each) for each in done} == {asyncio.CancelledError}
            relay.plan()
            return (await client.me())["producer"]

    assert asyncio.run(cancelled()) == "orders"


def test_a_forked_process_makes_connections_of_its_own(service: Service) -> None:
    """Two processes on one socket would read each other's answers."""
    with Client(service.url, service.key) as client:
        client.me()
        before = client._engine.http.transport
        child = os.fork()
        if child == 0:
            os._exit(0 if client._engine.http.transport is not before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client._engine.http.transport is before
        assert client.me()
