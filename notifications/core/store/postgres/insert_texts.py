"""Texts of the statements with which `db.insert` stores records."""

from __future__ import annotations

import functools
import itertools
from typing import LiteralString, TypeAlias, cast

from psycopg import sql

Shape: TypeAlias = tuple[tuple[str, tuple[str, ...], int], ...]
"""Table, columns and number of records."""


@functools.lru_cache(maxsize=512)
def insert(shape: Shape, *, is_patient: bool) -> LiteralString:
    """Build one statement for all tables: one round trip, one transaction.

    With patience the last value is in milliseconds: the first record sets the lock timeout, before
    any wait for a lock.
    """
    number = itertools.count(1)
    places = [
        [[f"${next(number)}" for _ in columns] for _ in range(count)] for _, columns, count in shape
    ]
    if is_patient:
        first = places[-1][0]  # the last INSERT is the outermost one, which runs first
        limit = f"set_config('lock_timeout', ${next(number)}, true)"
        first[-1] = f"CASE WHEN {limit} <> '' THEN {first[-1]} END"
    texts = [  # names of our own tables and columns: nobody's input can reach them
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES "  # noqa: S608 - our own names
        + ", ".join([f"({', '.join(each)})" for each in records])
        for (table, columns, _), records in zip(shape, places, strict=True)
    ]
    inner = ", ".join(f"_{place} AS ({text})" for place, text in enumerate(texts[:-1]))
    text = f"WITH {inner} {texts[-1]}" if inner else texts[-1]
    return cast("LiteralString", text)  # type: ignore[redundant-cast]  # as in db.statement


@functools.cache
def copy(table: str, columns: tuple[str, ...]) -> sql.SQL:
    """Build the COPY of a table's columns from texts of `copy_text`."""
    text = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    # Names of our own tables and columns: nobody's input can reach them.
    return sql.SQL(cast("LiteralString", text))  # type: ignore[redundant-cast]  # as in db.statement
