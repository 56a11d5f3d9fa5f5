"""Deliver: the body of a channel task, from a list of delivery ids to stored outcomes.

    claim -> load -> gates -> caps -> route -> admit -> (render -> send -> settle) in waves
                                        ^       |        '-> fail over: the next provider
                                        '-------'----------'

Two tasks may name the same delivery: only one task claims the row. The leases of a killed task
expire. A task that raises an error returns the rows without a provider call to the queue.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import InterfaceError, OperationalError

from notifications import clock
from notifications.delivery import (
    admission,
    budgets,
    fall_back,
    frequency_caps,
    gates,
    ordering,
    routing,
    send,
    sms_ceilings,
    switches,
)
from notifications.delivery.batch import Batch, Retry, load
from notifications.delivery.claimed import ClaimedDelivery
from notifications.rules.alerts import AlertKind
from notifications.rules.lane import Mode
from notifications.rules.outcomes import HOLD_FOR_PROVIDER, Decision
from notifications.rules.reasons import Reason
from notifications.rules.transitions import HOLD, RETURN, RETURN_SUSPECT
from notifications.store.postgres import alerts, claims, transitions
from notifications.store.postgres.claims import Claim
from notifications.store.postgres.transitions import Move, UnderClaim

_RETURN_FOR: Final = dt.timedelta(seconds=5)
"""Wait of a row after its task raised an error, so that the error does not repeat at once."""

_LOCKED_FOR: Final = dt.timedelta(seconds=1)
"""Wait of a row that another transaction had locked at the claim."""

Step = Callable[[Batch], None]
STEPS: Final[Sequence[Step]] = (
    gates.run_gates,
    switches.apply_switches,
    budgets.hold_without_money,
    sms_ceilings.apply_ceilings,
    frequency_caps.apply_caps,
    routing.choose_providers,
)
"""The steps before the provider call, in order. The decisions of a step are committed before the
next step runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryGroup:
    """Deliveries to publish in one message. If publishing fails, the rows come due in Postgres."""

    delivery_ids: list[UUID]
    countdown: dt.timedelta


def deliver(delivery_ids: Sequence[UUID]) -> list[RetryGroup]:
    """Claim and deliver rows; returns the deliveries to publish again soon.

    Safe to run twice, late, or never (see `sweeps`).

    Raises:
        OperationalError: the database failed. Rows without a provider call are queued again.
        InterfaceError: as OperationalError.
        Exception: a step failed. Rows without a provider call are queued again as suspects.
    """
    claim = claims.claim(delivery_ids, now=clock.now())
    locked = [Retry(each, _LOCKED_FOR) for each in claim.locked]
    if not claim.deliveries:
        return group_retries(locked)
    try:
        return group_retries(_run_steps(load(claim)) + locked)
    except (OperationalError, InterfaceError):
        _return_claim(claim, is_suspect=False)
        raise
    except Exception:
        # Rows without a call must not wait for the end of their lease.
        _return_claim(claim, is_suspect=True)
        raise


def _run_steps(batch: Batch) -> list[Retry]:
    batch.commit()
    queues = ordering.mark_waiting(batch.deliveries)
    fall_back.mark_confirmed(batch.deliveries)
    for step in STEPS:
        step(batch)
        batch.commit()
    while batch.deliveries:
        _send_by_first_provider(batch)
    return batch.retries + ordering.publish_next(queues)


def _send_by_first_provider(batch: Batch) -> None:
    """Send each delivery by its first provider; failed-over deliveries stay in the batch."""
    routed: list[admission.Routed] = []
    for name, together in _by_provider(batch.deliveries).items():
        provider = routing.provider_named(name)
        if provider is None:
            _hold_without_provider(batch, together)
        else:
            routed.append((provider, together))
    batch.commit()
    going, onward = admission.admit(batch, routed)
    frequency_caps.renew(claimed for _, together in going for claimed in together)
    for provider, together in going:
        send.send(batch, together, provider=provider)
        onward += [each for each in together if each.providers[0] != provider.name]
    batch.deliveries = onward


def _by_provider(deliveries: Iterable[ClaimedDelivery]) -> dict[str, list[ClaimedDelivery]]:
    by_provider: dict[str, list[ClaimedDelivery]] = defaultdict(list)
    for each in deliveries:
        by_provider[each.providers[0] if each.providers else ""].append(each)
    return by_provider


def _hold_without_provider(batch: Batch, deliveries: Sequence[ClaimedDelivery]) -> None:
    if deliveries[0].delivery.mode is Mode.LIVE:
        channel = deliveries[0].delivery.channel.label
        detail = f"no configured provider takes {channel}, or not these addresses of it"
        alerts.raise_once(AlertKind.NO_PROVIDER, channel, detail)
    for each in deliveries:
        wait = HOLD_FOR_PROVIDER * (1 + clock.jitter())
        held = Decision(
            transition=HOLD,
            reason=Reason.NO_PROVIDER,
            due_in=wait,
            republish_in=wait if each.delivery.priority.is_urgent else None,
        )
        batch.decide(each, held)


def _return_claim(claim: Claim, *, is_suspect: bool) -> None:
    """Queue the rows of a claim that had no provider call. On failure, the leases expire.

    Args:
        claim: the claim of the task that raised an error.
        is_suspect: True keeps the claim counted, because one of the rows may have caused the error.
            False after a database error, which no row can cause.
    """
    transition = RETURN_SUSPECT if is_suspect else RETURN
    reason = Reason.TASK_FAILED if is_suspect else Reason.CLAIM_RETURNED
    moves = [Move(id=each.id, reason=reason, due_in=_RETURN_FOR) for each in claim.deliveries]
    transitions.apply(transition, moves, UnderClaim(claim.token, only_uncalled=True))


def group_retries(retries: Iterable[Retry]) -> list[RetryGroup]:
    """Group deliveries by delay, for a message each."""
    groups: dict[dt.timedelta, list[UUID]] = defaultdict(list)
    for each in retries:
        groups[each.delay].append(each.delivery_id)
    return [RetryGroup(delivery_ids=ids, countdown=delay) for delay, ids in groups.items()]
