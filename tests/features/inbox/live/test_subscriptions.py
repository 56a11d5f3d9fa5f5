"""Subscriptions on a real state instance."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from notifications.features.inbox.live.subscriptions import Subscriptions
from notifyproj.devstack.servers import Stack

_PATIENCE_SECONDS = 30


def _run(stack: Stack, use: Callable[[Subscriptions, asyncio.Queue[int]], Awaitable[None]]) -> None:
    """Run subscriptions while `use` uses them; the queue has the confirmed recipients."""

    async def run() -> None:
        confirmed: asyncio.Queue[int] = asyncio.Queue()
        subscriptions = Subscriptions(
            stack.urls()["REDIS_URL"],
            hear=lambda _recipient, _version: None,
            confirm=confirmed.put_nowait,
            lose=lambda: None,
        )
        running = asyncio.create_task(subscriptions.run())
        using = asyncio.ensure_future(use(subscriptions, confirmed))
        await asyncio.wait([running, using], return_when=asyncio.FIRST_COMPLETED)
        for task in (using, running):
            task.cancel()
        await asyncio.wait([using, running], timeout=_PATIENCE_SECONDS)
        assert running.done(), "a task lost its cancellation"
        results = await asyncio.gather(using, running, return_exceptions=True)
        assert results[0] is None, results
        assert isinstance(results[1], asyncio.CancelledError), results

    asyncio.run(run())


def test_a_recipient_who_returns_at_once_is_read(stack: Stack) -> None:
    # As a page that loads again: no second SUBSCRIBE is sent, so no confirmation comes.
    async def load_again(subscriptions: Subscriptions, confirmed: asyncio.Queue[int]) -> None:
        subscriptions.follow(1)
        await asyncio.wait_for(confirmed.get(), _PATIENCE_SECONDS)
        subscriptions.leave(1)
        if not subscriptions.follow(1):
            await asyncio.wait_for(confirmed.get(), _PATIENCE_SECONDS)

    _run(stack, load_again)
