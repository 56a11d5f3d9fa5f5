"""A small commit that ends, or not: without its synchronous standby PostgreSQL waits for ever.

No timeout of PostgreSQL ends that wait (`statement_timeout` is over before the commit), so a thread
of its own commits, and the caller waits for the thread.
"""

from __future__ import annotations

import datetime as dt
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from django.db import Error, connection

LIMIT: Final = dt.timedelta(seconds=2)


def hangs() -> bool:
    """Return True if a small commit takes longer than `LIMIT`.

    An error is no hang: the next statement of the caller gets it.
    """
    probe = _prober().submit(_commit)
    try:
        probe.result(LIMIT.total_seconds())
    except TimeoutError:
        probe.cancel()  # one that waits for a hanging commit before it
        return True
    return False


@functools.cache
def _prober() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="commit-probe")


def _commit() -> None:
    try:
        with connection.cursor() as running:
            # A record in the log, of no table; a standby waits for it as for any row.
            running.execute("SELECT pg_logical_emit_message(true, 'notify', '')")
    except Error:
        return
    finally:
        connection.close()
