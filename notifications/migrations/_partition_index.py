"""Building the index of a partitioned table, partition by partition, without a lock on writers.

Safe to run again after an interrupted build: a partition with an attached index is left alone, and
an invalid index of an interrupted build is dropped first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def build(
    table: str, index: str, columns: str, *, suffix: str
) -> Callable[[Apps, BaseDatabaseSchemaEditor], None]:
    """Return the forward function of a `RunPython` that builds an index.

    Args:
        table: the partitioned table.
        index: name of the index on the table.
        columns: columns in parentheses, and the condition.
        suffix: the index of a partition is named after the partition and this suffix.
    """

    def forward(_: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        with editor.connection.cursor() as running:
            # Waits for older transactions block nobody, and the role's lock_timeout would end them.
            running.execute("SET lock_timeout = 0")
            running.execute(f"CREATE INDEX IF NOT EXISTS {index} ON ONLY {table} {columns}")
            running.execute(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass",
                [table],
            )
            for (part,) in running.fetchall():
                _build_part(running, part, index, columns, suffix)
            running.execute("RESET lock_timeout")

    return forward


def _build_part(
    running: Any,  # noqa: ANN401 - Django's cursor has no public type
    part: str,
    index: str,
    columns: str,
    suffix: str,
) -> None:
    name = f"{part}_{suffix}"
    running.execute(
        "SELECT count(*) FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid"
        " WHERE h.inhparent = %s::regclass AND i.indrelid = %s::regclass",
        [index, part],
    )
    if running.fetchone()[0]:
        return
    running.execute(f"DROP INDEX IF EXISTS {name}")  # an interrupted build leaves an invalid one
    running.execute(f"CREATE INDEX CONCURRENTLY {name} ON {part} {columns}")
    running.execute(f"ALTER INDEX {index} ATTACH PARTITION {name}")
