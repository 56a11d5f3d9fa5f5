"""Ends of contacts by refused calls: dead addresses, and recipients opted out at the provider.

The contacts are written after the transaction of the deliveries: a worker that stands still within
a transaction would lock the contacts for all other writers. A report that is lost, with a killed
worker or behind a lock, leads to one more call, whose refusal tells the report again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import structlog
from django.db import Error

from notifications.core.store.postgres import dead_contacts, opted_out_contacts
from notifications.core.store.postgres.dead_contacts import DeadReport
from notifications.core.store.postgres.opted_out_contacts import OptOut
from providers.contract import Outcome, Rejected

_log = structlog.get_logger(__name__)


class EndedCall(NamedTuple):
    """A call to a contact, with its outcome."""

    contact_id: int
    outcome: Outcome | None
    at: dt.datetime
    """Time of the claim, or of the start of the call."""


def record(calls: Iterable[EndedCall], *, provider: str) -> None:
    """Invalidate dead contacts, and suppress the addresses of opt-outs. Raises nothing.

    Safe to run twice, late or never.
    """
    dead: dict[int, DeadReport] = {}
    opted_out: dict[int, OptOut] = {}
    for contact_id, outcome, at in calls:
        if isinstance(outcome, Rejected):
            why = f"{provider}: {outcome.code}"
            if outcome.contact_is_dead:
                dead[contact_id] = DeadReport(why, at, outcome.gone_since)
            if outcome.has_opted_out:
                opted_out[contact_id] = OptOut(why, at)
    _write(partial(dead_contacts.invalidate, dead), provider)
    _write(partial(opted_out_contacts.record, opted_out), provider)


def _write(write: Callable[..., object], provider: str) -> None:
    try:
        write(provider=provider)
    except Error as error:  # the calls are settled, and the next call tells the report again
        _log.warning("contacts_not_ended", provider=provider, error=type(error).__name__)
