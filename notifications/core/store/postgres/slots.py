"""Slots: the database connections that the threads of a web process share.

A thread works with a slot, and gives the slot back while the thread waits for a client
(`api.request_slots`) or for the transaction of a group (`intake.group_commit`). A request of the
short path (`api.short_path`) needs a slot only in the thread that runs its group. Waiting threads
get a slot in order of arrival. A thread outside a web process has no slot, but a connection of its
own.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import TransactionManagementError

from notifications.core.store.postgres import thread_session


class FreeSlots:
    """The database connections of free slots, given to waiting threads in order of arrival.

    A thread that gave its slot back to wait for a group goes before threads with new requests, so
    that a request waits in the queue once.

    A queue of the standard library gives a slot to the next thread which asks, also before waiting
    threads: with 32 callers the slowest hundredth then waited three times as long.
    """

    def __init__(self, count: int) -> None:
        """Create the slots. Connections are opened at first use."""
        self._free: list[BaseDatabaseWrapper] = []
        self._waiting: deque[_Waiter] = deque()
        self._returning: deque[_Waiter] = deque()
        self._lock = threading.Lock()
        for _ in range(count):
            connection = connections.create_connection(DEFAULT_DB_ALIAS)
            connection.inc_thread_sharing()
            self._free.append(connection)

    def take(self, *, returning: bool = False) -> BaseDatabaseWrapper:
        """Wait for a free slot."""
        with self._lock:
            if self._free:
                return self._free.pop()
            mine = _Waiter()
            (self._returning if returning else self._waiting).append(mine)
        return mine.await_connection()

    def give_back(self, connection: BaseDatabaseWrapper) -> None:
        """Give the slot to the thread that has waited longest."""
        with self._lock:
            if queue := self._returning or self._waiting:
                queue.popleft().give(connection)
            else:
                self._free.append(connection)

    def close(self) -> None:
        """Close the connections of free slots."""
        with self._lock:
            for connection in self._free:
                connection.close()


class _Waiter:
    """A thread waiting for a slot. A lock is cheaper than an Event."""

    __slots__ = ("_connection", "_is_given")

    def __init__(self) -> None:
        self._is_given = threading.Lock()
        self._is_given.acquire()
        self._connection: BaseDatabaseWrapper | None = None

    def give(self, connection: BaseDatabaseWrapper) -> None:
        self._connection = connection
        self._is_given.release()

    def await_connection(self) -> BaseDatabaseWrapper:
        self._is_given.acquire()
        assert self._connection is not None  # noqa: S101 - `give` has set it
        return self._connection


class SlotLease:
    """The slot of a request, held while the process works on the request."""

    __slots__ = ("_connection", "_slots")

    def __init__(self, slots: FreeSlots) -> None:
        self._slots = slots
        self._connection: BaseDatabaseWrapper | None = None

    @property
    def is_held(self) -> bool:
        """Return True between `take` and `give_back`."""
        return self._connection is not None

    def another(self) -> SlotLease:
        """Return a lease of the same slots for another thread."""
        return SlotLease(self._slots)

    def take(self, *, returning: bool = False) -> None:
        """Wait for a slot, and let this thread use the slot's connection.

        Closes a session that is broken or older than CONN_MAX_AGE: a slot may have been free for
        hours, and Django looks at the age only in a request that reaches Django.
        """
        taken = self._connection = self._slots.take(returning=returning)
        connections[DEFAULT_DB_ALIAS] = taken
        _thread.lease = self
        try:
            taken.close_if_unusable_or_obsolete()
            thread_session.drop_broken()
        except BaseException:
            self.give_back()
            raise

    def __enter__(self) -> None:
        """Wait for a free slot, before threads with new requests: the thread runs a whole group."""
        self.take(returning=True)

    def __exit__(self, *_error: object) -> None:
        """Give the slot back."""
        self.give_back()

    def give_back(self) -> None:
        """Give the slot back, if the thread holds a slot."""
        held, self._connection = self._connection, None
        if held is not None:
            _thread.lease = None
            del connections[DEFAULT_DB_ALIAS]
            self._slots.give_back(held)


class _Thread(threading.local):
    """The lease of this thread."""

    lease: SlotLease | None = None
    offered: SlotLease | None = None
    """The lease of a request on the short path."""


_thread = _Thread()
_NOTHING: Final = nullcontext()


def offer(lease: SlotLease | None) -> None:
    """Let `taken` of this thread take a slot by the lease; None ends the offer."""
    _thread.offered = lease


def offered() -> SlotLease | None:
    """Return the lease that `offer` gave to the current thread, or None."""
    return _thread.offered


def taken() -> AbstractContextManager[object]:
    """Hold a slot of the offered lease during the block; without an offer nothing changes."""
    lease = _thread.offered
    return _NOTHING if lease is None or lease.is_held else lease


def check_returnable() -> None:
    """Refuse a thread whose slot cannot be given back now.

    Raises:
        TransactionManagementError: a transaction is open on the slot's connection.
    """
    if _thread.lease is not None and connections[DEFAULT_DB_ALIAS].in_atomic_block:
        raise TransactionManagementError("a slot with an open transaction cannot be given back")


@contextmanager
def given_back() -> Iterator[None]:
    """Give the slot of this thread back while the thread waits for another thread.

    Raises:
        TransactionManagementError: as `check_returnable`.
    """
    check_returnable()
    lease = _thread.lease
    if lease is None:
        yield
        return
    lease.give_back()
    try:
        yield
    finally:
        lease.take(returning=True)
