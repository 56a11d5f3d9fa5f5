"""Packed responses (`rules.accepted_answer`) begin when each process can read a packed response.

A process of the release before reads no packed response. Such a process works beside this release
during an upgrade, and again after a rollback. So packed responses begin a day after the migration
that adds their column; until then the responses are JSON. A new database, to which `migrate`
applied the first migration in the same run, never had such a process: packed responses begin
at once.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db.migrations.recorder import MigrationRecorder

from notifications.core import clock
from notifications.core.store.postgres import unapplied_migrations

COLUMN_ADDED_BY: Final = "0002_packed_responses"
_UPGRADE: Final = dt.timedelta(days=1)
"""Time for an upgrade and its rollback."""
_ONE_RUN: Final = dt.timedelta(minutes=5)
"""Longest time between the two migrations of a new database."""
_NEXT_LOOK: Final = 60.0
"""Seconds between two looks at the migrations while the answer is no."""


class _UpgradeState:
    """The answer that the process knows; yes is for good."""

    def __init__(self) -> None:
        self.is_yes = False
        self.looked_at = -_NEXT_LOOK


_known: Final = _UpgradeState()


def are_readable_by_all() -> bool:
    """Return True if each process of the installation reads packed responses.

    Raises:
        django.db.Error: the database is away.
    """
    if not _known.is_yes and clock.monotonic() - _known.looked_at >= _NEXT_LOOK:
        _known.is_yes = _look()
        _known.looked_at = clock.monotonic()
    return _known.is_yes


def forget() -> None:
    """Look again on the next call."""
    _known.is_yes, _known.looked_at = False, -_NEXT_LOOK


def _look() -> bool:
    names = (unapplied_migrations.FIRST, COLUMN_ADDED_BY)
    found = MigrationRecorder.Migration.objects.filter(app="notifications", name__in=names)
    applied: dict[str, dt.datetime] = dict(found.values_list("name", "applied"))
    if len(applied) < len(names):
        return False
    first, added = (applied[name] for name in names)
    return added - first <= _ONE_RUN or clock.now() - added >= _UPGRADE
