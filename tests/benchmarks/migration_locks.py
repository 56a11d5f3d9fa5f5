"""[migration_locks] Requests while a migration changes a table with two million deliveries.

The changes that CONTRIBUTING.md permits run in turn while two callers post, each request after the
answer to the one before. The baseline is an index that one statement builds for all partitions,
which a test refuses (tests/architecture/test_later_migrations.py).
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Final

import psycopg
from psycopg import sql

from notifications.core import clock
from notifyproj.devstack.demo.environment import pause
from tests.benchmarks import history_cost, load
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_ROWS: Final = 2_000_000
_CALLERS: Final = 2
_TARGET_MS: Final = 2_000
"""`lock_timeout` of the processes: a longer wait refuses the request."""
_LOOK_SECONDS: Final = 0.005
_AROUND_SECONDS: Final = 2.0
"""Time with requests before and after a change."""
_PARTS: Final = (
    "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'delivery'::regclass"
)
_INDEX: Final = sql.Identifier("bench_migration")

Change = Callable[[psycopg.Connection[Any]], object]


@dataclass(slots=True)
class _Waits:
    """The effects of a change on requests."""

    over: Event = field(default_factory=Event)
    seconds: float = 0.0
    """Duration of the change."""
    longest_lock: float = 0.0
    """The longest wait of a session for a lock that a look saw, in seconds."""
    requests: list[float] = field(default_factory=list)
    """Duration of each request in seconds."""
    refused: int = 0

    def note(self) -> str:
        """Return the figures as text."""
        return (
            f"{self.seconds:.1f} s; longest wait for a lock {1e3 * self.longest_lock:.0f} ms,"
            f" longest of {len(self.requests):,} requests {1e3 * max(self.requests):.0f} ms,"
            f" {self.refused} refused"
        )


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    stage.clear()
    days = history_cost.old_days()
    history_cost.build(stage, days, rows=stage.size(_ROWS))
    try:
        calm = _watch(stage, lambda _link: pause(_AROUND_SECONDS))
        found = {name: _watch(stage, change) for name, change in _PERMITTED.items()}
        refused = _watch(stage, _index_at_once)
    finally:
        _undo(stage)
        history_cost.drop(stage, days)
    longest = 1e3 * max(max(each.requests) for each in found.values())
    return Figure(
        name="migration_locks",
        value=longest,
        unit=f"ms, longest request; {stage.size(_ROWS):,} rows",
        baseline="ms, an index at once",
        baseline_value=1e3 * max(refused.requests),
        target=f"< {_TARGET_MS:,} ms, none refused",
        met=longest < _TARGET_MS and not any(each.refused for each in found.values()),
        notes=tuple(
            f"{name}: {each.note()}"
            for name, each in {"no change": calm, **found, "an index at once": refused}.items()
        ),
    )


def _watch(stage: Stage, change: Change) -> _Waits:
    """Make a change under load."""
    waits = _Waits()
    with stage.database() as link, _working(stage, waits):
        pause(_AROUND_SECONDS)
        began = time.monotonic()
        change(link)
        waits.seconds = time.monotonic() - began
        pause(_AROUND_SECONDS)
    return waits


@contextmanager
def _working(stage: Stage, waits: _Waits) -> Iterator[None]:
    """Post, and look at the locks, during the block."""
    threads = [Thread(target=_post, args=(stage, waits)) for _ in range(_CALLERS)]
    threads.append(Thread(target=_look, args=(stage, waits)))
    for each in threads:
        each.start()
    try:
        yield
    finally:
        waits.over.set()
        for each in threads:
            each.join()


def _post(stage: Stage, waits: _Waits) -> None:
    link = load.connection(stage)
    while not waits.over.is_set():
        [body] = load.singles(1, priority="P1")
        began = time.monotonic()
        try:
            load.post_one(stage, link, body)
        except load.Refused:
            waits.refused += 1
        waits.requests.append(time.monotonic() - began)


def _look(stage: Stage, waits: _Waits) -> None:
    query = (
        "SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0)::float8"
        " FROM pg_locks WHERE NOT granted"
    )
    with stage.database() as link:
        while not waits.over.wait(_LOOK_SECONDS):
            [(longest,)] = link.execute(query).fetchall()
            waits.longest_lock = max(waits.longest_lock, longest)


def _add_column(link: psycopg.Connection[Any]) -> None:
    """As Django's AddField with `db_default`."""
    link.execute("ALTER TABLE delivery ADD COLUMN bench_migration smallint NOT NULL DEFAULT 0")


def _add_index(link: psycopg.Connection[Any]) -> None:
    """Build the index of each partition concurrently, then join them under the table's index."""
    index = "CREATE INDEX {} ON ONLY delivery (recipient_id, sent_at)"
    link.execute(sql.SQL(index).format(_INDEX))
    query = (
        "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'delivery'::regclass"
    )
    for (part,) in link.execute(query).fetchall():
        own = sql.Identifier(f"{part}_bench_migration")
        build = sql.SQL("CREATE INDEX CONCURRENTLY {} ON {} (recipient_id, sent_at)")
        link.execute(build.format(own, sql.Identifier(part)))
        link.execute(sql.SQL("ALTER INDEX {} ATTACH PARTITION {}").format(_INDEX, own))


def _add_check(link: psycopg.Connection[Any]) -> None:
    """Refuse new rows first, then read the old ones without a lock that writers need."""
    table = "ALTER TABLE delivery"
    link.execute(f"{table} ADD CONSTRAINT bench_migration CHECK (attempts >= 0) NOT VALID")
    link.execute(f"{table} VALIDATE CONSTRAINT bench_migration")


def _add_days(link: psycopg.Connection[Any]) -> None:
    link.execute("SELECT make_partitions(%s)", [clock.now().date() + dt.timedelta(days=60)])


def _index_at_once(link: psycopg.Connection[Any]) -> None:
    link.execute("CREATE INDEX bench_at_once ON delivery (recipient_id, sent_at)")


_PERMITTED: Final[Mapping[str, Change]] = {
    "a column with a default": _add_column,
    "an index, each partition concurrently": _add_index,
    "a check, not valid and then validated": _add_check,
    "partitions of a new day": _add_days,
}


def _undo(stage: Stage) -> None:
    with stage.database() as link:
        link.execute("DROP INDEX IF EXISTS bench_at_once, bench_migration")
        link.execute("ALTER TABLE delivery DROP CONSTRAINT IF EXISTS bench_migration")
        link.execute("ALTER TABLE delivery DROP COLUMN IF EXISTS bench_migration")
