"""Archive: days past retention are exported, verified and dropped; expired files are deleted."""

from __future__ import annotations

import datetime as dt
from typing import Final

import pyarrow as pa
from django.db import OperationalError

from notifications.core.sweeps import retention
from notifications.core.sweeps.rounds import Swept
from notifications.features.archive import days
from notifications.features.archive.export import CountDiffers
from notifications.features.archive.keys import UnreadableKey
from notifications.features.archive.targets import ArchiveUnavailable
from notifications.features.archive.verify import Damaged

_TROUBLE: Final = (
    *(OperationalError, ArchiveUnavailable, Damaged, CountDiffers, UnreadableKey),
    pa.ArrowException,
)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Archive and drop days past retention, the oldest first; delete expired files.

    Safe to run twice or in concurrent processes: a lease gives a day to one process, and each step
    leaves a row. After a kill the next run continues when the lease has ended. If the sweep never
    runs, days stay in PostgreSQL.
    """
    done, problems = retention.advance_days(
        now=now, limit=limit, advance=days.advance, trouble=_TROUBLE
    )
    done += _expire(now, problems)
    retention.alert(now, problems)
    return done


def _expire(now: dt.datetime, problems: list[str]) -> Swept:
    try:
        return Swept(moved=days.expire(today=now.date()))
    except ArchiveUnavailable as error:
        problems.append(f"expired files: {error}")
        return Swept(failed=1)
