"""Notifications and deliveries written directly, as accepting would have left them."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import psycopg

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from providers.contract import Channel
from tests.benchmarks.stage import TEMPLATE, TYPE, Stage

_PEOPLE: Final = """
    CREATE TEMPORARY TABLE people AS
    SELECT row_number() OVER (ORDER BY r.id) - 1 AS place, r.id AS recipient, r.user_id,
           c.id AS contact
    FROM notifications_recipient r JOIN notifications_contact c ON c.recipient_id = r.id
    WHERE c.kind = '' -- their mailbox: a phone's token has one
"""
_NOTIFICATIONS: Final = """
    INSERT INTO notification (id, producer_id, mode, priority, type, recipient_id, user_id,
                              template, variables, secrets, channels, spread, expires_at,
                              created_at)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '000')::uuid,
           (SELECT id FROM notifications_producer LIMIT 1), 1, %(priority)s, %(type)s, p.recipient,
           p.user_id, (SELECT id FROM notifications_template WHERE template_id = %(template)s),
           '{"name": "Ada", "order_id": "ORD-1", "items": ["a", "b"]}', %(secrets)s,
           ARRAY[%(channel)s]::smallint[], 'first', now() + interval '1 day', now()
    FROM generate_series(1, %(count)s) AS n
    JOIN people p ON p.place = n %% (SELECT count(*) FROM people)
"""
_DELIVERIES: Final = """
    INSERT INTO delivery (id, mode, priority, channel, status, reason, recipient_id, contact_id,
                          due_at)
    SELECT (%(first)s || lpad(to_hex(n), 9, '0') || '001')::uuid, 1, %(priority)s, %(channel)s,
           %(status)s, %(reason)s, p.recipient, CASE WHEN %(with_contact)s THEN p.contact END,
           now() + %(due)s::interval
           + floor(random() * %(steps)s) * interval '5 seconds'
    FROM generate_series(1, %(count)s) AS n
    JOIN people p ON p.place = n %% (SELECT count(*) FROM people)
"""


def write_scheduled(stage: Stage, count: int) -> None:
    """Empty the stage, and write notifications whose moment has come, while all processes stop."""
    stage.clear()
    with stage.standing_still(), stage.database() as link:
        write(
            link,
            count,
            priority=Priority.P2,
            status=Status.SCHEDULED,
            reason="scheduled",
            with_contact=False,
        )


def write(
    link: psycopg.Connection[Any],
    count: int,
    *,
    priority: Priority,
    status: Status,
    **others: object,
) -> list[UUID]:
    """Write notifications of today by mail, each with one delivery; returns the deliveries' ids.

    Args:
        link: a connection of the caller's own.
        count: how many.
        priority: of all.
        status: of the deliveries.
        others: `reason`, `with_contact`, `secrets` (encrypted), `due` (an interval from now, as
            text) and `steps` (of five seconds, over which they come due).
    """
    first = ids.floor_of(clock.now().date()).hex[:12] + "70008000"
    values = {
        "first": first,
        "count": count,
        "priority": priority,
        "channel": Channel.EMAIL,
        "type": TYPE,
        "template": TEMPLATE,
        "status": status,
        "reason": "",
        "with_contact": True,
        "secrets": None,
        "due": "-5 seconds",
        "steps": 1,
        **others,
    }
    link.execute("DROP TABLE IF EXISTS people")
    link.execute(_PEOPLE)
    link.execute(_NOTIFICATIONS, values)
    link.execute(_DELIVERIES, values)
    link.execute("ANALYZE notification, delivery")
    return [UUID(f"{first}{number:09x}001") for number in range(1, count + 1)]
