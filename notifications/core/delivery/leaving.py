"""The end of a worker while Postgres is away: noted outcomes are left to the rescue.

A worker writes the outcomes of its calls until Postgres takes them. A stopping worker would do so
until it is killed. So after `WRITES_FOR` it leaves the outcomes whose entries are in the
sent-ledger: the rescue settles them when Postgres is back, as those of a killed worker. Outcomes
that the ledger does not have or does not take, such as "not sent, try again", are written until the
worker is killed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog
from django.db import InterfaceError, InternalError, OperationalError

from notifications.core import clock, stopping
from notifications.core.delivery import settle, waves
from notifications.core.delivery.batch import Batch
from notifications.core.delivery.evidence import entry_of
from notifications.core.store.postgres import db_errors
from notifications.core.store.redis import sent_ledger
from providers.contract import Provider

_log = structlog.get_logger(__name__)

WRITES_FOR: Final = 15.0
"""Seconds after SIGTERM: a failover of Postgres takes about ten. With the ten seconds after which a
frozen server is noticed, well below the time to stop of a container (45 s)."""


class LeftToRescue(Exception):
    """The outcomes are in the ledger, and the process has to end."""


def settle_or_leave(
    batch: Batch, pairs: Sequence[settle.Pair], *, provider: Provider
) -> Sequence[settle.Pair]:
    """Settle outcomes; returns those of locked rows.

    Raises:
        LeftToRescue: Postgres is away, and the rescue settles the outcomes.
        OperationalError: as `settle.settle`.
        InterfaceError: as `settle.settle`.
        InternalError: as `settle.settle`.
    """
    try:
        return settle.settle(batch, pairs, provider=provider)
    except (OperationalError, InterfaceError, InternalError) as error:
        if db_errors.is_away(error) and _may_leave(pairs, provider=provider):
            waves.end_flights(claimed for claimed, _ in pairs)
            _log.warning("outcomes_left_to_rescue", provider=provider.name, count=len(pairs))
            raise LeftToRescue from error
        raise


def _may_leave(pairs: Sequence[settle.Pair], *, provider: Provider) -> bool:
    if stopping.seconds(now=clock.monotonic()) < WRITES_FOR:
        return False
    if not all(type(result.outcome) in sent_ledger.DEFINITE for _, result in pairs):
        return False
    return sent_ledger.add(entry_of(*pair, provider=provider) for pair in pairs)
