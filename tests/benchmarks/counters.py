"""Counters of a block of code in this process: statements, rows, WAL, commands, calls, lines.

Counters are equal on a busy and on an idle machine, so a test can hold them. The counters read real
servers: Postgres's statistics of rows and of the session's WAL, the commands of the state
instance, and the messages in the lanes of the broker.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final
from unittest.mock import patch

import psycopg
from django.db import connection

from notifications.core import lanes
from notifications.core.rules.lane import LANES
from notifications.core.store.redis import state
from notifications.core.telemetry import STDERR

NAMES: Final = (
    "statements",
    "rows_written",
    "wal_bytes",
    "state_commands",
    "broker_messages",
    "python_calls",
    "log_lines",
)
"""`statements`: calls of `execute` and `copy` of psycopg. `python_calls`: calls of Python functions
in the calling thread; CPython tells no number of allocated objects."""

_ROWS: Final = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables"
_WAL: Final = "SELECT wal_bytes FROM pg_stat_get_backend_wal(pg_backend_pid())"
_OWN_COMMANDS: Final = frozenset({"cmdstat_info", "cmdstat_hello", "cmdstat_client|setinfo"})


@dataclass(slots=True)
class Counters:
    """The counts of a block, by name of NAMES."""

    values: dict[str, float] = field(default_factory=lambda: dict.fromkeys(NAMES, 0.0))

    def add(self, name: str, count: float = 1) -> None:
        """Add to a count."""
        self.values[name] += count

    def per(self, count: int) -> dict[str, float]:
        """Return the counts for each of `count` things, to four significant digits."""
        return {name: float(f"{value / count:.4g}") for name, value in self.values.items()}


@contextmanager
def counted() -> Iterator[Counters]:
    """Count what the block does; the counts are complete after the block."""
    counts = Counters()
    before = _of_servers()
    with _psycopg(counts), _lines(counts), _calls(counts):
        yield counts
    for name, value in _of_servers().items():
        counts.add(name, value - before[name])


@contextmanager
def without_page_images() -> Iterator[None]:
    """Keep Postgres from writing whole pages into the WAL, which it does after each checkpoint."""
    with connection.cursor() as running:
        running.execute("ALTER SYSTEM SET full_page_writes = off")
        running.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        with connection.cursor() as running:
            running.execute("ALTER SYSTEM RESET full_page_writes")
            running.execute("SELECT pg_reload_conf()")


def _of_servers() -> Mapping[str, float]:
    with connection.cursor() as running:
        # Postgres keeps the statistics of a session back for up to a second.
        running.execute("SELECT pg_stat_force_next_flush()")
        running.execute("SELECT pg_stat_clear_snapshot()")
        running.execute(_ROWS)
        [(rows,)] = running.fetchall()
        running.execute(_WAL)
        [(wal,)] = running.fetchall()
    return {
        "rows_written": float(rows or 0),
        "wal_bytes": float(wal),
        "state_commands": float(_state_commands()),
        "broker_messages": float(sum(lanes.depths([each.name for each in LANES]).values())),
    }


def _state_commands() -> int:
    stats: Mapping[str, Any] = state.client().info("commandstats")
    return sum(each["calls"] for name, each in stats.items() if name not in _OWN_COMMANDS)


@contextmanager
def _psycopg(counts: Counters) -> Iterator[None]:
    execute, copy = psycopg.Cursor.execute, psycopg.Cursor.copy

    def counted_execute(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - psycopg's own
        counts.add("statements")
        return execute(*arguments, **options)

    def counted_copy(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - psycopg's own
        counts.add("statements")
        return copy(*arguments, **options)

    with (
        patch.object(psycopg.Cursor, "execute", counted_execute),
        patch.object(psycopg.Cursor, "copy", counted_copy),
    ):
        yield


@contextmanager
def _lines(counts: Counters) -> Iterator[None]:
    write = STDERR.write_bytes

    def counted_write(data: bytes) -> None:
        counts.add("log_lines", data.count(b"\n"))
        write(data)

    with patch.object(STDERR, "write_bytes", counted_write):
        yield


@contextmanager
def _calls(counts: Counters) -> Iterator[None]:
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        if event == "call":
            calls += 1

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)
        counts.add("python_calls", calls)
