"""News of templates: whoever changes one tells every process at once, through the state Redis.

A process that has read a template listens from then on, in one thread of its own. What it may have
missed (it had not begun, the connection broke) it treats as news of everything.

Promise: none that anybody depends on. A template is believed for a second (`shelf`), so a message
that is lost, or a Redis that is away, makes an edit act in a second instead of milliseconds.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final

import redis

from notifications.store import state

CHANNEL: Final = "notify:templates"
"""Each message is a template's name."""
_REST: Final = 2.0
"""Seconds between two attempts to listen to a Redis that is away."""
_SILENCE: Final = 30.0
"""Seconds after which a quiet connection is asked whether it still stands."""

Hear = Callable[[str], None]
"""Takes a template's name; an empty one means any."""


def tell(template_id: str) -> None:
    """Say that a template changed. Nobody hears it while the state Redis is away."""
    with contextlib.suppress(state.Away):
        state.publish(CHANNEL, template_id)


class Ears:
    """One listening thread a process, begun at the first use and again after a fork."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._begun = threading.Lock()
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Listen, if this process does not yet: costs nothing when it does."""
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
        """Pass on what comes.

        Raises:
            redis.RedisError: the connection broke and could not be made anew at once.
        """
        while True:
            match link.get_message(timeout=_SILENCE):
                case {"type": "message", "data": bytes(name)}:
                    self._hear(name.decode())
                case {"type": "subscribe"}:
                    self._hear("")  # also after a connection that broke by itself
                case _:
                    pass
