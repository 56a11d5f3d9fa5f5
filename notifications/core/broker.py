"""The broker's availability, checked in the background so that requests do not wait for a timeout.

    takes_messages()   the last known state; no I/O
    fault()            the reason, in words
    record_failure()   records that a publish failed
    probe()            writes once to the broker; a worker probes every second

After a failure a thread probes every second until the broker takes a write. A broker that answers
but takes no writes counts as away: a Redis or Valkey that is full without eviction, or read-only; a
RabbitMQ that blocks its publishers, or whose quorum queues have no majority.

A broker that has become a replica keeps its connections. So a refusal for that reason closes the
idle connections of the process, and the next connection reaches the new primary.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import queue
import threading
from typing import TYPE_CHECKING, Final

import redis
from amqp.exceptions import MessageNacked  # type: ignore[import-untyped]  # untyped
from celery import current_app
from kombu import Connection, pools
from kombu.exceptions import LimitExceeded, OperationalError
from redis.backoff import NoBackoff
from redis.retry import Retry

from notifications.core import conf, rabbitmq, server_faults

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT: Final = 0.3
"""Longest wait of a publisher or a probe for an answer, in seconds."""
_CONFIRMED_WITHIN: Final = 1.0
"""The same for RabbitMQ, which confirms a message of a quorum queue after a write to the disk."""
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
        self._fault = ""
        self._prober: tuple[int, threading.Thread] | None = None

    @property
    def fault(self) -> str:
        if self._fault and (self._prober is None or self._prober[0] != os.getpid()):
            self.record(self._fault)  # a fork has no probe thread
        return self._fault

    def record(self, fault: str) -> None:
        with self._lock:
            self._fault = fault
            if not fault or (self._prober and self._prober[0] == os.getpid()):
                return
            thread = threading.Thread(target=self._watch, name="broker probe", daemon=True)
            self._prober = (os.getpid(), thread)
        thread.start()

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(_EVERY):
            found = _write()
            with self._lock:
                if not found or not self._fault:
                    self._fault = ""
                    self._prober = None
                    return
                self._fault = found


_state: Final = _BrokerState()


def takes_messages() -> bool:
    """Return True if the last message or probe succeeded, or before the first."""
    return not _state.fault


def fault() -> str:
    """Return the reason why the broker takes no messages (`server_faults`); empty if it does."""
    return _state.fault


def record_failure(error: BaseException) -> None:
    """Record that the broker did not take a message, and the client's error."""
    _state.record(_fault_of(error))


def probe() -> bool:
    """Write to the broker, within the limit of a publisher; records and returns the result."""
    found = _write()
    _state.record(found)
    return not found


def eviction_policy() -> str:
    """Return the `maxmemory-policy` of a Redis; empty for RabbitMQ, and if the server is away."""
    if not url().startswith("redis"):
        return ""
    try:
        return server_faults.eviction_policy(_redis())
    except redis.RedisError:
        return ""


def countdown(seconds: float) -> float:
    """Return a wait of at least `seconds` that the broker can hold: on RabbitMQ whole seconds."""
    return seconds if url().startswith("redis") else max(1, math.ceil(seconds))


def url() -> str:
    """Return the broker's URL, with the password.

    Celery's own setting is the variable CELERY_BROKER_URL, which lacks the password of
    CELERY_BROKER_PASSWORD until `celeryconfig` is loaded.
    """
    return conf.current().broker_url


@functools.cache
def connection() -> Connection:
    """Return a connection for publishing with `TIMEOUT`, to be taken from kombu's pools.

    A consumer's connection needs a longer timeout than its blocking pop takes.
    """
    options = dict(current_app.conf.broker_transport_options)
    if "socket_timeout" in options:
        options |= {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    else:
        options |= {"answer_within": _CONFIRMED_WITHIN}
    return Connection(url(), transport_options=options, connect_timeout=TIMEOUT)


@functools.cache
def errors() -> tuple[type[Exception], ...]:
    """Return the exception types that kombu or its client raises while the broker is away."""
    link = connection()
    return (
        *(LimitExceeded, OperationalError, OSError, redis.RedisError),
        *(*link.connection_errors, *link.channel_errors, MessageNacked),
    )


def _write() -> str:
    """Write to the broker; returns the fault, empty for a write that was taken."""
    try:
        _writer()()
    except errors() as error:
        return _fault_of(error)
    return ""


def _fault_of(error: BaseException) -> str:
    if server_faults.is_read_only(error):
        _close_idle_connections()
    return server_faults.words(error)


def _close_idle_connections() -> None:
    """Close what the process keeps open to a server that has become a replica.

    A connection in use stays: its user gets the same refusal and calls this function too.
    """
    _redis().connection_pool.disconnect(inuse_connections=False)
    for pool in list(pools.connections.values()):
        with contextlib.suppress(queue.Empty):
            while True:  # kombu has a public function for all connections alone
                pool.collect_resource(pool._resource.get_nowait())  # noqa: SLF001 - see above


@functools.cache
def _writer() -> Callable[[], None]:
    return _write_to_redis if url().startswith("redis") else _write_to_rabbitmq


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


def _write_to_rabbitmq() -> None:
    _rabbitmq(os.getpid()).write()


@functools.cache
def _rabbitmq(_pid: int) -> rabbitmq.Probe:
    """Return the probe of a process; a fork must not use the connection of its parent."""
    return rabbitmq.Probe(connection().clone)
