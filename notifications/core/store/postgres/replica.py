"""Reads from the read replica of `DATABASE_REPLICA_URL`, and from the primary in its absence.

`read` runs a function with the replica as the default database of this thread. Only reads whose
answer has no effect belong there: figures, lists and exports. The change feed, the sweeps and each
page that a write follows read the primary.

Each session of the replica is compared with the primary before a read, at most once in `FRESH`:
the address may lead to several replicas. The process leaves the replica for the primary if it is
away, hung, promoted, paused, a copy of something else, or more than `MOST_LAG` behind. Afterwards
only the watch of `fallbacks` compares, so no request waits for a replica that was left. A read
that fails on the replica is run again on the primary.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar

import psycopg
import structlog
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections

from notifications.core import clock
from notifications.core.rules.replica_lag import FRESH, MOST_LAG
from notifications.core.store.postgres import db, db_errors, time_limit

ALIAS: Final = "replica"
"""Name in `DATABASES`; absent without DATABASE_REPLICA_URL."""
_SLOWEST: Final = 1.0
"""Seconds for the statement of the comparison on the replica, which takes a millisecond."""
_NO_ANSWER: Final = "does not answer"
_FAULTS: Final[Mapping[str, str]] = {
    "is_primary": "takes writes: it is no standby",
    "has_other_cluster": "belongs to another cluster than DATABASE_URL",
    "has_other_database": "has another database than DATABASE_URL",
    "has_other_timeline": "follows another primary, or has not followed the last failover yet",
    "is_paused": "has paused the replay",
    "is_behind": f"is more than {MOST_LAG.seconds} s behind",
}
"""Column of replica_faults.sql -> fault in words; the first one counts."""

Answer = TypeVar("Answer")
_log = structlog.get_logger(__name__)


class _Outage:
    """The fault for which this process has left the replica; empty while the replica is used."""

    fault = ""


class _Compared(threading.local):
    """The last comparison of this thread."""

    session: object = None
    at = float("-inf")


_outage: Final = _Outage()
_compared: Final = _Compared()


def is_set() -> bool:
    """Return True if the installation has a read replica."""
    return ALIAS in connections.settings


def read(work: Callable[[], Answer]) -> Answer:
    """Return what `work` reads from the replica, else from the primary.

    `work` may run twice. It returns rows or values: a queryset that is evaluated later reads the
    primary. In an open transaction the primary is read.

    Raises:
        django.db.Error: the read failed on the primary, or its time limit ended on the replica.
    """
    if not is_set() or connection.alias == ALIAS or connection.in_atomic_block or not _is_usable():
        return work()
    try:
        with _replica():
            found = work()
            if connection.connection is _compared.session:
                return found
            cause = "the session was opened again and may be of another replica"
    except Error as error:
        if isinstance(error.__cause__, psycopg.errors.QueryCanceled):  # the primary is as slow
            raise
        is_conflict = isinstance(error.__cause__, psycopg.errors.SerializationFailure)
        if db_errors.is_away(error) and not is_conflict:
            _leave(_NO_ANSWER)
        cause = str(error.__cause__ or error)[:200]
    _log.warning("replica_read_again", cause=cause)
    return work()


def fault() -> str:
    """Compare now; return the fault in words, empty for a usable replica or without a replica."""
    if not is_set():
        return ""
    found = _compare()
    if found:
        _leave(found)
    elif _outage.fault:
        _log.warning("replica_used_again", cause=_outage.fault)
        _outage.fault = ""
    return found


def _is_usable() -> bool:
    if _outage.fault:
        return False
    session = connections[ALIAS].connection
    is_fresh = clock.steady() - _compared.at <= FRESH.total_seconds()
    if session is not None and session is _compared.session and is_fresh:
        return True
    if found := _compare():
        _leave(found)
    return not found


def _leave(found: str) -> None:
    if not _outage.fault:
        _log.warning("replica_left", cause=found)
    _outage.fault = found


def _compare() -> str:
    """Return the fault of this thread's session of the replica; empty if there is none."""
    at = clock.steady()
    try:
        [primary] = db.rows("replica_primary", {})
    except Error:
        return "cannot be compared with the primary"
    try:
        with _replica(), time_limit.of_session(seconds=_SLOWEST):
            [found] = db.rows("replica_faults", {**primary, "most_lag": MOST_LAG})
    except (Error, time_limit.TooSlow):
        return _NO_ANSWER
    _compared.session, _compared.at = connections[ALIAS].connection, at
    return next((words for name, words in _FAULTS.items() if found[name]), "")


@contextmanager
def _replica() -> Iterator[None]:
    """Make the replica the default database of this thread.

    Raises:
        django.db.Error: of the block; the session is closed.
    """
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[ALIAS]
    try:
        yield
    except Error:
        connections[ALIAS].close()
        raise
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
