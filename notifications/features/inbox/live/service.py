"""The work of a live process beside the requests: tasks until the stop of the process.

    subscriptions   announcements of the state instance
    rounds          reads and events
    beats           heartbeats, ends of tokens, slow readers
    comparisons     versions in Postgres, with each heartbeat and after announcements were lost
    revocations     tokens revoked by a producer or an operator
    reports         figures for the admin

A failed task ends the process, so that no stream stays open without events.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NoReturn, TypeVar

from django.db import Error

from notifications.core import clock
from notifications.core.conf import Conf
from notifications.core.rules.recipient_tokens import RecipientToken
from notifications.core.store.postgres import host_clock
from notifications.core.store.recipient_tokens import revocations
from notifications.core.store.redis import live_processes, state
from notifications.core.store.redis.live_processes import LiveProcess
from notifications.features.inbox.live import figures, reads
from notifications.features.inbox.live.frames import TokenEnd
from notifications.features.inbox.live.hub import Hub
from notifications.features.inbox.live.subscriptions import Subscriptions

_BEAT_SECONDS: Final = 1.0
_REVOCATION_SECONDS: Final = 2.0
_WITHOUT_ANNOUNCEMENTS_SECONDS: Final = 2.0
"""Between two comparisons while the state instance is away."""

Given = TypeVar("Given")
Found = TypeVar("Found")


class Service:
    """The hub, its announcements and the tasks of a process."""

    def __init__(self, conf: Conf) -> None:
        """Create the parts; `run` starts the tasks."""
        self.conf = conf
        self.hub = Hub(conf.live, follow=self._follow, leave=self._leave)
        self.subscriptions = Subscriptions(
            conf.state_url,
            hear=self.hub.hear,
            confirm=self.hub.confirm,
            lose=self.hub.lose_subscriptions,
        )
        self._started_at = clock.now()
        self._name = f"{host_clock.host_name()}:{os.getpid()}"
        self._side = ThreadPoolExecutor(1, thread_name_prefix="live-side")
        figures.CONNECTIONS.set_function(lambda: self.hub.count)
        figures.CONNECTIONS_LIMIT.set(conf.live.connections)
        figures.RECIPIENTS.set_function(lambda: len(self.hub.listeners))
        figures.STATE_UP.set_function(lambda: self.subscriptions.is_connected)
        figures.DATABASE_UP.set_function(lambda: not self.hub.is_database_away)

    async def run(self) -> None:
        """Run every task until the cancellation.

        Raises:
            BaseExceptionGroup: a task failed.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.subscriptions.run())
            tasks.create_task(self.hub.run())
            tasks.create_task(self._beat())
            tasks.create_task(self._compare())
            tasks.create_task(self._revoke())
            tasks.create_task(self._report())

    async def remove_report(self) -> None:
        """Remove the process from the list of live processes."""
        with contextlib.suppress(state.Away):
            await self._in_thread(live_processes.remove, self._name)

    def wrong(self) -> list[str]:
        """Return the present troubles in words."""
        lines = []
        if not self.subscriptions.is_connected:
            lines.append(
                "the state instance is away: versions are compared with the database every"
                f" {_WITHOUT_ANNOUNCEMENTS_SECONDS:g} s"
            )
        if self.hub.is_database_away:
            lines.append("the database is away: streams stay open without events")
        if self.hub.count >= self.conf.live.connections:
            lines.append("the process has as many streams as NOTIFY_LIVE_CONNECTIONS allows")
        return lines

    def _follow(self, recipient_id: int) -> bool:
        return self.subscriptions.follow(recipient_id)

    def _leave(self, recipient_id: int) -> None:
        self.subscriptions.leave(recipient_id)

    async def _beat(self) -> NoReturn:
        before = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            now = asyncio.get_running_loop().time()
            self.hub.beat(late=max(0.0, now - before - 2 * _BEAT_SECONDS))
            before = now

    async def _compare(self) -> NoReturn:
        while True:
            await self._until_next_comparison()
            try:
                await self.hub.compare()
                self.hub.note_database(None)
            except Error as error:
                self.hub.note_database(error)

    async def _until_next_comparison(self) -> None:
        """Wait for a heartbeat, or less from the moment at which announcements are lost."""
        end = asyncio.get_running_loop().time() + self.conf.live.heartbeat_seconds
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(
                min(_WITHOUT_ANNOUNCEMENTS_SECONDS, self.conf.live.heartbeat_seconds)
            )
            if not self.subscriptions.is_connected:
                return

    async def _revoke(self) -> NoReturn:
        while True:
            await asyncio.sleep(_REVOCATION_SECONDS)
            streams = [each for each in self.hub.streams() if not each.is_ending]
            with contextlib.suppress(Error):  # `_compare` reports the database
                ended = await self._in_thread(_find_revoked, [each.token for each in streams])
                of_ended = [each for each in streams if each.token in ended] if ended else []
                self.hub.end_tokens(of_ended, TokenEnd.REVOKED)

    async def _report(self) -> NoReturn:
        while True:
            with contextlib.suppress(state.Away):  # `subscriptions` reports the state instance
                await self._in_thread(live_processes.write, self._figures())
            await asyncio.sleep(live_processes.EVERY.total_seconds())

    def _figures(self) -> LiveProcess:
        return LiveProcess(
            name=self._name,
            host=host_clock.host_name(),
            pid=os.getpid(),
            started_at=self._started_at,
            seen_at=clock.now(),
            connections=self.hub.count,
            limit=self.conf.live.connections,
            recipients=len(self.hub.listeners),
            is_stopping=self.hub.is_stopping,
        )

    async def _in_thread(self, work: Callable[[Given], Found], given: Given) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._side, work, given)


def _find_revoked(tokens: Collection[RecipientToken]) -> frozenset[RecipientToken]:
    return frozenset(reads.closing_on_error(lambda: revocations.find_revoked(tokens)))
