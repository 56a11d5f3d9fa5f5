"""Rows of a past day, written directly: notifications with a delivery, an attempt and events."""

from __future__ import annotations

import datetime as dt
from uuid import UUID

from django.db import connection

from notifications.core.rules import ids
from notifications.core.store.postgres import partitions

_NOTIFICATIONS = """
    INSERT INTO notification (id, producer_id, mode, priority, type, recipient_id, user_id,
                              template, content, variables, metadata, idempotency_key, channels,
                              spread,
                              expires_at, created_at, secrets)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '000')::uuid, 1, 1, 2, 'ORDER_READY',
           1000 + n %% %(people)s, 'user-' || n %% %(people)s, %(template)s,
           jsonb_build_object('title', 'Hello', 'body', 'Line one' || chr(10) || '"two", ' || n),
           jsonb_build_object('name', 'Ada', 'order_id', 'ORD-' || n),
           jsonb_build_object('order', n), CASE WHEN n %% 2 = 0 THEN 'order-' || n ELSE '' END,
           ARRAY[3, 1]::smallint[], 'first', %(at)s::timestamptz + interval '1 day',
           %(at)s::timestamptz + n * interval '1 millisecond', NULL
    FROM generate_series(1, %(count)s) AS n
"""
_DELIVERIES = """
    INSERT INTO delivery (id, mode, priority, channel, status, reason, recipient_id, contact_id,
                          provider, provider_message_id, publishes, claims, attempts,
                          attempts_before, resent, generation, sent_at, delivered_at)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '001')::uuid, 1, 2, 3, 6, '',
           1000 + n %% %(people)s, n, 'ses', 'message-' || n, 0, 0, 1, 0, false, 0,
           %(at)s::timestamptz, CASE WHEN n %% 3 = 0 THEN NULL ELSE %(at)s::timestamptz END
    FROM generate_series(1, %(count)s) AS n
"""
_ATTEMPTS = """
    INSERT INTO attempt (delivery_id, number, provider, outcome, code, detail, started_at,
                         latency_ms)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '001')::uuid, 1, 'ses', 'accepted', '',
           CASE WHEN n %% 5 = 0 THEN 'said, "250 ok"' ELSE '' END, %(at)s::timestamptz, 50 + n %% 10
    FROM generate_series(1, %(count)s) AS n
"""
_EVENTS = """
    INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '000')::uuid,
           CASE WHEN k > 1 THEN (%(first)s || lpad(to_hex(n), 9, '0') || '001')::uuid END, k, '',
           CASE WHEN k = 3 AND n %% 4 = 0 THEN 'detail of ' || n ELSE '' END, %(at)s::timestamptz
    FROM generate_series(1, %(count)s) AS n CROSS JOIN generate_series(1, 4) AS k
"""


def fill(day: dt.date, *, notifications: int, people: int, template: int | None = None) -> None:
    """Write notifications for recipients 1000, 1001 and so on, in turn."""
    partitions.ensure(day, days=0)
    values: dict[str, str | int | dt.datetime | None] = {
        "first": _first(day),
        "count": notifications,
        "people": people,
        "at": dt.datetime(day.year, day.month, day.day, 12, tzinfo=dt.UTC),
        "template": template,
    }
    with connection.cursor() as running:
        for statement in (_NOTIFICATIONS, _DELIVERIES, _ATTEMPTS, _EVENTS):
            running.execute(statement, values)


def id_of(day: dt.date, number: int) -> UUID:
    """Return the id of the notification of a number from 1."""
    return UUID(f"{_first(day)}{number:09x}000")


def _first(day: dt.date) -> str:
    return ids.floor_of(day).hex[:12] + "70008000"
