"""Servers that accept statements and never answer: frozen, or without synchronous standbys.

TCP does not end a session of such a server, because the kernel of the server answers, and no
timeout of PostgreSQL ends the wait of a commit. Therefore a session with a statement of more than
PATIENCE tests the server with a small commit in another session. If the commit takes longer than
LIMIT, the server is hung: the statement ends with an error, and new sessions go to the other
servers of DATABASE_URL. If no other server takes a session, the hung server is tested again before
a session.

A process that starts knows no hung server. Therefore the first session to each of several servers
begins with a test: a command whose first server is cut off from its standbys reaches the new
primary, and does not end with an error.

A server that works ends the test in time, so a long statement of such a server goes on. The result
of an ended statement is unknown, as after a lost connection. The test writes a record of no table,
so a cancellation of the test loses nothing.
"""

from __future__ import annotations

import math
import select
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg

PATIENCE: Final = 4.0
"""Seconds of a statement before its server is tested; a statement normally takes milliseconds."""
LIMIT: Final = 4.0
"""Seconds for the commit of a test."""
_CONNECT_SECONDS: Final = 3
_FRESH_SECONDS: Final = 2.0
"""Time for which threads share the result of a test."""
_PORT: Final = "5432"
_OF_A_HOST: Final = ("host", "hostaddr", "port")
"""Parameters of libpq with an item for each host."""
_CANCEL_SECONDS: Final = 1.0
_COMMIT: Final = b"SELECT pg_logical_emit_message(true, 'notify', '')"

Parameters = Mapping[str, Any]
"""Parameters of libpq, as Django passes them."""
Address = tuple[str, str]
"""Name of a host (its IP address if it has no name) and port, as libpq tells of a session."""


class HungServerError(psycopg.OperationalError):
    """The server accepts statements and ends no commit; no other server can be used."""


@dataclass(slots=True)
class _Standing:
    """The result of the last test of a server."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    is_hung: bool = False
    tested_at: float = float("-inf")


_standings: Final[dict[Address, _Standing]] = {}


def is_hung(parameters: Parameters, address: Address) -> bool:
    """Test a server, or return the result of a test that has just ended."""
    standing = _standings.setdefault(address, _Standing())
    with standing.lock:
        if time.monotonic() - standing.tested_at > _FRESH_SECONDS:
            standing.is_hung = not _commits(parameters, address)
            standing.tested_at = time.monotonic()
        return standing.is_hung


def is_hung_at_first(parameters: Parameters, address: Address) -> bool:
    """Test a server of several that this process has not tested; False for any other server."""
    if len(_hosts(parameters)) == 1:
        return False
    standing = _standings.setdefault(address, _Standing())
    return math.isinf(standing.tested_at) and is_hung(parameters, address)


def separate(parameters: Parameters) -> tuple[Parameters | None, Parameters | None]:
    """Return the parameters of the usable hosts and of the hung hosts; None for no host."""
    tested = _standings.copy()  # in one step: other threads test servers meanwhile
    known = {address for address, standing in tested.items() if standing.is_hung}
    if not known:
        return parameters, None
    hosts = _hosts(parameters)
    usable = [host for address, host in hosts.items() if address not in known]
    hung = [host for address, host in hosts.items() if address in known]
    return _of(parameters, usable), _of(parameters, hung)


def recovered(parameters: Parameters) -> Parameters:
    """Test hung hosts, and return the parameters of those that work again.

    Raises:
        HungServerError: no host works.
    """
    hosts = _hosts(parameters)
    found = _of(parameters, [hosts[each] for each in hosts if not is_hung(parameters, each)])
    if found is None:
        raise HungServerError("the server is frozen, or no synchronous standby confirms a commit")
    return found


def _hosts(parameters: Parameters) -> dict[Address, dict[str, str]]:
    """Return the parameters of each host; a name may have an IP address beside it."""
    columns = {name: str(parameters[name]).split(",") for name in _OF_A_HOST if name in parameters}
    count = max(map(len, columns.values()), default=1)
    hosts = [
        {name: items[number if len(items) > 1 else 0] for name, items in columns.items()}
        for number in range(count)
    ]
    return {
        (each.get("host") or each["hostaddr"], each.get("port") or _PORT): each for each in hosts
    }


def _of(parameters: Parameters, hosts: Sequence[Mapping[str, str]]) -> Parameters | None:
    if not hosts:
        return None
    return {**parameters, **{name: ",".join(each[name] for each in hosts) for name in hosts[0]}}


def _commits(parameters: Parameters, address: Address) -> bool:
    """Return False if a commit takes too long, or the server does not answer at all."""
    one = {**_hosts(parameters)[address], "connect_timeout": _CONNECT_SECONDS}
    try:
        link = psycopg.connect(**{**parameters, **one, "target_session_attrs": "any"})
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.Error:  # it refuses sessions: the statements of others go on or fail
        return True
    try:
        return _answers(link)
    except psycopg.Error:
        return True
    finally:
        link.close()


def _answers(link: psycopg.Connection[Any]) -> bool:
    """Return False if a small commit takes longer than LIMIT."""
    link.pgconn.send_query(_COMMIT)
    watch = select.poll()
    watch.register(link.pgconn.socket, select.POLLIN)
    until = time.monotonic() + LIMIT
    while link.pgconn.is_busy():
        if (left := until - time.monotonic()) <= 0:
            with suppress(psycopg.Error):  # a frozen server reads no cancellation
                link.cancel_safe(timeout=_CANCEL_SECONDS)
            return False
        watch.poll(left * 1_000)
        link.pgconn.consume_input()
    return True
