"""The broker's availability, checked in the background so that requests do not wait for a timeout.

    takes_messages()   the last known state; no I/O
    record_failure()   records that a publish failed
    probe()            writes once to the broker; a worker probes every second

After a failure a thread probes every second until the broker takes a write. A broker that answers
but refuses writes counts as away: full without eviction, read-only, or a RabbitMQ that blocks its
publishers.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from typing import TYPE_CHECKING, Final

import redis
from celery import current_app
from kombu import Connection
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT: Final = 0.3
"""Socket timeout of a publisher or a probe, in seconds."""
_EVERY: Final = 1.0
"""Seconds between two probes while the broker is away."""
_KEY: Final = "notify:probe"
_KEY_LIVES: Final = 60


class Away(Exception):
    """The broker took no message; unpublished rows stay due in Postgres."""


class _BrokerState:
    """The known state of the broker. A fork inherits the state without the probe thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_away = False
        self._prober: tuple[int, threading.Thread] | None = None

    @property
    def is_away(self) -> bool:
        if self._is_away and (self._prober is None or self._prober[0] != os.getpid()):
            self.record(takes=False)  # a fork has no probe thread
        return self._is_away

    def record(self, *, takes: bool) -> None:
        with self._lock:
            self._is_away = not takes
            if takes or (self._prober and self._prober[0] == os.getpid()):
                return
            thread = threading.Thread(target=self._watch, name="broker probe", daemon=True)
            self._prober = (os.getpid(), thread)
        thread.start()

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(_EVERY):
            takes = _write()
            with self._lock:
                if takes or not self._is_away:
                    self._is_away = False
                    self._prober = None
                    return


_state: Final = _BrokerState()


def takes_messages() -> bool:
    """Return True if the last message or probe succeeded, or before the first."""
    return not _state.is_away


def record_failure() -> None:
    """Record that the broker did not take a message."""
    _state.record(takes=False)


def probe() -> bool:
    """Write to the broker, within `TIMEOUT` seconds; records and returns the result."""
    takes = _write()
    _state.record(takes=takes)
    return takes


def url() -> str:
    """Return the broker's URL, with the password."""
    address: str = current_app.conf.broker_url
    return address


@functools.cache
def connection() -> Connection:
    """Return a connection for publishing with `TIMEOUT`, to be taken from kombu's pools.

    A consumer's connection needs a longer timeout than its blocking pop takes.
    """
    options = dict(current_app.conf.broker_transport_options)
    if "socket_timeout" in options:
        options |= {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    return Connection(url(), transport_options=options, connect_timeout=TIMEOUT)


@functools.cache
def errors() -> tuple[type[Exception], ...]:
    """Return the exception types that kombu or its client raises while the broker is away."""
    link = connection()
    return (
        *(OperationalError, OSError, redis.RedisError),
        *(*link.connection_errors, *link.channel_errors),
    )


def _write() -> bool:
    try:
        _writer()()
    except errors():
        return False
    return True


@functools.cache
def _writer() -> Callable[[], None]:
    return _write_to_redis if url().startswith("redis") else _ask_rabbitmq


def _write_to_redis() -> None:
    _redis().set(_KEY, 1, ex=_KEY_LIVES)


@functools.cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        url(),
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
        retry=Retry(NoBackoff(), 1),  # a restarted broker has closed the socket
    )


def _ask_rabbitmq() -> None:
    """Open a channel. RabbitMQ answers unless it is away or blocks the publisher's socket."""
    with contextlib.closing(connection().clone()) as link, link.channel():
        return
