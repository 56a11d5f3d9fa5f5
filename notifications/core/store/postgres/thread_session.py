"""The session of Django's default connection in this thread."""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import ConnStatus, TransactionStatus
from psycopg.pq.abc import PGconn


def drop_broken() -> None:
    """Close this thread's connection if the server has closed it; the next statement reconnects.

    Checks only the socket, without a round trip. A restart, a failover and a pooler close the
    socket; TCP keepalives detect a vanished server. Does nothing inside a transaction.
    """
    _drop_broken(connections[DEFAULT_DB_ALIAS])


def _drop_broken(wrapper: BaseDatabaseWrapper) -> None:
    link = wrapper.connection
    if link is not None and not wrapper.in_atomic_block and _is_broken(link.pgconn):
        wrapper.close()


def current() -> psycopg.Connection[Any]:
    """Return the open session of the current thread; a broken session is replaced.

    Raises:
        django.db.OperationalError: no server takes a session.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]  # the proxy `connection` looks it up at each attribute
    _drop_broken(wrapper)
    if wrapper.connection is None:
        wrapper.ensure_connection()
    session: psycopg.Connection[Any] = wrapper.connection
    return session


def _is_broken(link: PGconn) -> bool:
    if link.status != ConnStatus.OK:
        return True
    if link.transaction_status != TransactionStatus.IDLE:
        return False
    watch = select.poll()
    watch.register(link.socket, select.POLLIN)
    while watch.poll(0):  # a notice, a server's last words, or the end
        try:
            link.consume_input()
        except psycopg.OperationalError:
            return True
    return False
