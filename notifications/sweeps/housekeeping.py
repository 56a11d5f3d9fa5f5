"""Housekeeping: what must not be kept, and what must not grow."""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db import connection

from notifications.models import Alert, Rejected
from notifications.store import db, short_links
from notifications.sweeps.rounds import Swept

_REJECTED_KEPT: Final = 10_000
"""Rejected requests that operators can look back on."""
_ALERTS_KEPT: Final = dt.timedelta(days=7)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Wipe and trim up to `limit` rows of each kind.

    Safe at any time: all of it is past its use.
    """
    wiped = db.run("wipe_expired", {"limit": limit})
    with connection.cursor() as running:
        running.execute(
            "DELETE FROM idempotency_key WHERE ctid = ANY(ARRAY("
            "SELECT ctid FROM idempotency_key WHERE expires_at <= now() LIMIT %s))",
            [limit],
        )
        keys: int = running.rowcount
    newest = Rejected.objects.order_by("-id").values_list("id", flat=True).first() or 0
    trimmed, _ = Rejected.objects.filter(id__lte=newest - _REJECTED_KEPT).delete()
    Alert.objects.filter(resolved_at__lt=now - _ALERTS_KEPT).delete()
    ended = short_links.purge(now=now, limit=limit)
    return Swept(wiped + keys + trimmed + ended)
