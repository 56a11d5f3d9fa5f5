"""Retention of rows by age: a line per table, and one statement for all tables.

Other deletions need more than an age, and are functions of the store: `sweeps.housekeeping` has the
list. Past days of notifications are dropped as partitions: see `past_days`.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from psycopg import sql

from notifications.core import conf
from notifications.core.rules import recipient_tokens
from notifications.core.rules.row_retention import RowRetention
from notifications.core.store.postgres import db

_DELETE: Final = sql.SQL(
    "DELETE FROM {table} WHERE ctid = ANY (ARRAY("
    "SELECT ctid FROM {table} WHERE {column} < %(before)s ORDER BY {column} LIMIT %(limit)s"
    " FOR UPDATE SKIP LOCKED))"
)
RETENTIONS: Final = (
    RowRetention("django_session", "expire_date"),
    RowRetention("idempotency_key", "expires_at"),
    RowRetention("notifications_auditentry", "at", setting="audit_kept"),
    RowRetention("notifications_signin", "seen_at", dt.timedelta(days=90)),
    RowRetention("received_text", "received_at", dt.timedelta(days=30)),
    RowRetention("short_link", "expires_at"),
    RowRetention(
        "token_revocation", "noted_at", recipient_tokens.LONGEST_LIFETIME + dt.timedelta(hours=1)
    ),
    RowRetention("webhook_attempt", "started_at", dt.timedelta(days=7)),
    RowRetention("webhook_message", "created_at", dt.timedelta(days=7)),
)
"""Of the core; `feature.Feature.retentions` has those of the features."""


def delete(kept: RowRetention, *, now: dt.datetime, limit: int) -> int:
    """Delete up to `limit` old rows of a table, the oldest first; return their number.

    Skips locked rows. Waits for the largest difference of clocks: PostgreSQL refuses to delete an
    entry of the audit log before its 90 days. Safe to run twice, late or never.
    """
    current = conf.current()
    age: dt.timedelta = getattr(current, kept.setting) if kept.setting else kept.age
    statement = _DELETE.format(table=sql.Identifier(kept.table), column=sql.Identifier(kept.column))
    with db.cursor() as running:
        running.execute(statement, {"before": now - age - current.max_clock_skew, "limit": limit})
        return running.rowcount
