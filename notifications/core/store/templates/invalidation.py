"""Template invalidation: announces a changed template to every process through the state Redis.

A process that has read a template starts one listening thread. After a gap in the connection the
process reads every template again. `template_cache` keeps a template for a second, so after a lost
message an edit acts within a second instead of milliseconds.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final

import redis

from notifications.core.store.redis import state

CHANNEL: Final = "notify:templates"
"""Redis channel; the message is the name of the changed template."""
_REST: Final = 2.0
"""Seconds between two attempts to connect."""
_SILENCE: Final = 30.0
"""Seconds after which a quiet connection is checked."""

Hear = Callable[[str], None]
"""Takes a template's name; an empty name means any."""


def publish(template_id: str) -> None:
    """Announce a changed template; does nothing while the state Redis is away."""
    with contextlib.suppress(state.Away), state.connection() as redis:
        redis.publish(CHANNEL, template_id)


class InvalidationListener:
    """A listening thread per process, started at the first use and again after a fork."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._begun = threading.Lock()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Start listening, unless this process listens already."""
        thread = self._thread
        if thread is not None and thread.is_alive():
            return
        with self._begun:
            if self._thread is thread:
                self._thread = threading.Thread(
                    target=self._listen, name="template-news", daemon=True
                )
                self._thread.start()

    def _listen(self) -> None:
        rest = threading.Event()
        while True:
            client = state.client()  # held here: one that is let go closes its connections
            with contextlib.suppress(redis.RedisError), client.pubsub() as link:  # type: ignore[no-untyped-call]  # redis-py forgot
                link.subscribe(CHANNEL)
                self._follow(link)
            rest.wait(_REST)

    def _follow(self, link: redis.client.PubSub) -> None:
        """Pass on messages.

        Raises:
            redis.RedisError: the connection broke.
        """
        while True:
            match link.get_message(timeout=_SILENCE):
                case {"type": "message", "data": bytes(name)}:
                    self._hear(name.decode())
                case {"type": "subscribe"}:
                    self._hear("")  # also after a connection that broke by itself
                case _:
                    pass
