"""Canaries: values that only one person has, and the places in which they stand.

`in_postgres` reads each column of each table of each schema, `in_redis` each key and value of both
databases, `in_archive` each value of each file: a table that is added later is read without a
change here.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import redis
from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg import sql

USER: Final = "Canary7f3aUser"
EMAIL: Final = "canary7f3a@example.com"
PHONE: Final = "+4915207738111"
TEXT: Final = "canary7f3a-text"
"""Stands in each free value: names, variables, contents, keys, URLs."""
_MARKS: Final = ("canary7f3a", PHONE.removeprefix("+"))


def _forms(mark: str) -> Iterator[str]:
    """Yield a mark as text, as hexadecimal bytes, and inside of base64 at each offset."""
    for spelt in (mark, mark.capitalize()):
        raw = spelt.encode()
        yield spelt.lower()
        yield raw.hex()
        for before in range(3):
            coded = base64.b64encode(bytes(before) + raw).decode()
            whole = len(coded) // 4 * 4 - 4
            yield coded[4 if before else 0 : whole].lower()


FORMS: Final = frozenset(form for mark in _MARKS for form in _forms(mark))


def is_in(text: str) -> bool:
    """Return True if a text has a canary in one of the forms."""
    lower = text.lower()
    return any(form in lower for form in FORMS)


def in_postgres() -> set[str]:
    """Return the columns of the database with a canary, as `table.column`."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        tables = cursor.fetchall()
        return {
            f"{table}.{column}"
            for schema, table, columns in tables
            for column in _with_canaries(cursor, sql.Identifier(schema, table), columns)
        }


_COLUMNS: Final = """
    SELECT c.table_schema, c.table_name, array_agg(c.column_name::text)
    FROM information_schema.columns c
    JOIN pg_class t ON t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
    WHERE t.relkind IN ('r', 'p', 'm', 'f') AND NOT t.relispartition
      AND c.table_schema NOT IN ('pg_catalog', 'information_schema')
    GROUP BY c.table_schema, c.table_name
"""
"""Columns of all tables; a partition is a part of its table, and a detached partition a table."""


def _with_canaries(
    cursor: CursorWrapper, table: sql.Identifier, columns: Sequence[str]
) -> list[str]:
    tests = [
        sql.SQL("bool_or(lower({}::text) LIKE ANY (%s))").format(sql.Identifier(each))
        for each in columns
    ]
    query = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(tests), table)
    patterns = [f"%{form}%" for form in FORMS]
    cursor.execute(query, [patterns] * len(columns))
    found = cursor.fetchone()
    return [column for column, is_found in zip(columns, found, strict=True) if is_found]


def in_redis() -> set[str]:
    """Return the keys of both Redis databases with a canary in the key or the value."""
    found = set()
    for url in {os.environ["REDIS_URL"], os.environ["CELERY_BROKER_URL"]}:
        with redis.Redis.from_url(url) as client:
            for key in client.scan_iter("*"):
                value = _value(client, key)
                if is_in(_text(key)) or is_in(_text(value)):
                    found.add(_text(key))
    return found


def _value(client: Any, key: bytes) -> object:  # noqa: ANN401 - redis-py has no types for all commands
    reads: dict[bytes, Callable[[], object]] = {
        b"string": lambda: client.get(key),
        b"list": lambda: client.lrange(key, 0, -1),
        b"hash": lambda: client.hgetall(key),
        b"set": lambda: client.smembers(key),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: client.xrange(key),
        b"none": lambda: b"",
    }
    return reads[client.type(key)]()


def _text(value: object) -> str:
    """Return bytes, or a structure of bytes, as text."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dict):
        return _text([*value, *value.values()])
    if isinstance(value, Iterable) and not isinstance(value, str):
        return "\n".join(_text(each) for each in value)
    return str(value)


def in_archive(folder: Path) -> set[str]:
    """Return the columns of the files of an archive with a canary, as `table.column`."""
    found = set()
    for path in folder.rglob("*.parquet"):
        table = pq.read_table(path)
        for name in table.column_names:
            if is_in(_text(table[name].to_pylist())):
                found.add(f"{path.name.partition('-')[0]}.{name}")
    return found
