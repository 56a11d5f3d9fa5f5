"""Inboxes for the benchmarks, loaded without the product's writers: millions of rows in minutes.

Nine of ten items belong to the tenth of the users who are active, because a user gets messages by
what the user does. So an active user has more than a page of items in a small and in a large table.
Items arrive in the order of time, one user after another, so that a page of a user is spread over
the table as in production. Seven of ten items are read, two are unread, one is unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from django.db import connection

_LOADERS: Final = 2
_DAYS: Final = 85
_ITEMS: Final = """
    INSERT INTO {schema}.inbox_item (
        id, recipient_id, notification_id, type, category, title, body, url, collapse_key,
        created_at, added_version, version, seen_at, read_at, removal)
    SELECT id, %(first_user)s + CASE WHEN n %% 10 < 9 THEN (n / 10 * 9 + n %% 10) %% %(active)s
                                     ELSE %(active)s + (n / 10) %% %(quiet)s END,
           id, 'order_shipped', 'category_' || n %% 7, 'Your order ' || n || ' is on its way',
           'The parcel leaves our warehouse today and reaches you within three days. Number ' || n,
           'https://shop.example/orders/' || n, '', at, n, n,
           CASE WHEN n %% 97 %% 10 < 9 THEN at END, CASE WHEN n %% 97 %% 10 < 7 THEN at END, ''
    FROM (
        SELECT n, at, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
                       || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 12)
                       || '001')::uuid AS id
        FROM (
            SELECT n, now() - (1 - n::float8 / %(items)s) * %(days)s * interval '1 day' AS at
            FROM generate_series(%(from)s::bigint, %(to)s::bigint) n
        ) numbers
    ) rows
"""
_HEADS: Final = """
    INSERT INTO {schema}.inbox (recipient_id, version, unseen, unread, total, categories)
    SELECT recipient_id, %(items)s, sum(unseen), sum(unread), sum(total),
           coalesce(jsonb_object_agg(category, jsonb_build_array(unseen, unread))
                    FILTER (WHERE unread > 0), '{{}}')
    FROM (
        SELECT recipient_id, category, count(*) AS total,
               count(*) FILTER (WHERE state = 0) AS unseen,
               count(*) FILTER (WHERE state < 2) AS unread
        FROM {schema}.inbox_item GROUP BY recipient_id, category
    ) counts GROUP BY recipient_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inboxes:
    """Loaded inboxes."""

    schema: str
    first_user: int
    users: int
    items: int

    @property
    def active(self) -> int:
        """The number of active users, the first ones."""
        return self.users // 10

    def user(self, number: int) -> int:
        """The `number`-th reader: any order of numbers spreads over the active users."""
        return self.first_user + number * 7919 % self.active

    @contextmanager
    def chosen(self) -> Iterator[None]:
        """Have the statements of the product use these inboxes."""
        _run(f"SET search_path TO {self.schema}, public")
        try:
            yield
        finally:
            _run("SET search_path TO public")


def load(inboxes: Inboxes) -> None:
    """Fill the tables of a schema: without indexes and WAL, then the indexes."""
    schema = inboxes.schema
    _run(f"TRUNCATE {schema}.inbox_item, {schema}.inbox")
    _run(f"ALTER TABLE {schema}.inbox_item SET UNLOGGED")
    rebuild = _drop_indexes(schema)
    step = -(-inboxes.items // _LOADERS)
    bounds = [
        (first, min(inboxes.items, first + step - 1)) for first in range(1, inboxes.items, step)
    ]
    values = {
        "first_user": inboxes.first_user,
        "active": inboxes.active,
        "quiet": inboxes.users - inboxes.active,
        "items": inboxes.items,
        "days": _DAYS,
    }

    def part(bound: tuple[int, int]) -> None:
        bounds_ = {"from": bound[0], "to": bound[1]}
        _run(_ITEMS.format(schema=schema), {**values, **bounds_})
        connection.close()

    with ThreadPoolExecutor(_LOADERS) as pool:
        list(pool.map(part, bounds))
    rebuild()
    _run(_HEADS.format(schema=schema), {"items": inboxes.items})
    _run(f"VACUUM ANALYZE {schema}.inbox_item, {schema}.inbox")


def copy_tables(schema: str) -> None:
    """Make empty tables of the inbox in another schema."""
    _run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    _run(f"CREATE SCHEMA {schema}")
    for table in ("inbox", "inbox_item", "inbox_report", "inbox_uncleared"):
        _run(f"CREATE TABLE {schema}.{table} (LIKE public.{table} INCLUDING ALL)")


def empty(schema: str) -> None:
    """Delete the rows, and the schema unless it is the product's."""
    _run(f"TRUNCATE {schema}.inbox_item, {schema}.inbox, {schema}.inbox_report")
    _run(f"ALTER TABLE {schema}.inbox_item SET LOGGED")
    if schema != "public":
        _run(f"DROP SCHEMA {schema} CASCADE")


def _drop_indexes(schema: str) -> Callable[[], None]:
    """Drop the indexes of the items; returns the function that builds them again."""
    with connection.cursor() as running:
        running.execute(
            "SELECT indexname, indexdef FROM pg_indexes"
            " WHERE schemaname = %s AND tablename = 'inbox_item'",
            [schema],
        )
        indexes: dict[str, str] = dict(running.fetchall())
        running.execute(
            "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'p'",
            [f"{schema}.inbox_item"],
        )
        (key,) = running.fetchone() or ("",)
    _run(f"ALTER TABLE {schema}.inbox_item DROP CONSTRAINT {key}")
    others = {name: text for name, text in indexes.items() if name != key}
    for name in others:
        _run(f"DROP INDEX {schema}.{name}")

    def rebuild() -> None:
        _run("SET maintenance_work_mem = '1GB'")
        for text in others.values():
            _run(text)
        _run(f"ALTER TABLE {schema}.inbox_item ADD CONSTRAINT {key} PRIMARY KEY (id)")

    return rebuild


def _run(text: str, values: dict[str, int] | None = None) -> None:
    with connection.cursor() as running:
        running.execute(text, values)
