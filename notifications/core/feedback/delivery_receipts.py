"""Delivery receipts: apply the providers' reports to deliveries.

A feature stores the prices of the receipts (`PRICES`), which settle the costs of the calls.

Receipts arrive early, late, twice, out of order or never; the transition table handles each case. A
failure counts only for the last call of a delivery (`failed_calls`). A receipt for a dead address
invalidates the contact even if the delivery's status stays (a complaint about a read message), and
an opt-out puts the address on the suppression list. Contacts and list are changed first, so a
callback repeated after a crash has the full effect.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from notifications.core.delivery import withholding
from notifications.core.feedback import failed_calls, fallback_receipts
from notifications.core.feedback.receipt_groups import receipt_group
from notifications.core.gate import Place, function_at
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.redaction import redact
from notifications.core.rules.suppression import Cause
from notifications.core.rules.times import stages
from notifications.core.rules.transitions import BOUNCE, DELIVER, FAIL, READ
from notifications.core.store.postgres import (
    db,
    dead_contacts,
    id_ranges,
    opted_out_contacts,
    secret_variables,
)
from notifications.core.store.postgres.dead_contacts import DeadReport
from notifications.core.store.postgres.opted_out_contacts import OptOut
from notifications.core.store.postgres.transitions import FromProvider, Move
from providers.contract import Receipt, ReceiptKind

AddPrices = Callable[[str, Sequence[tuple[Receipt, UUID]]], None]

_log = structlog.get_logger(__name__)

_RECEIPT_DAYS: Final = 3
"""Maximum age of a delivery looked up by the provider's message id: SMS networks retry for three
days. Without the limit, each receipt of an unknown message would read every partition. Most vendors
echo our own id, which finds a delivery of any age."""

_MEANS: Final = {
    ReceiptKind.FAILED: (FAIL, Reason.RECEIPT_FAILED),
    ReceiptKind.BOUNCED: (BOUNCE, Reason.RECEIPT_BOUNCED),
    ReceiptKind.DELIVERED: (DELIVER, Reason.RECEIPT_DELIVERED),
    ReceiptKind.READ: (READ, Reason.RECEIPT_READ),
}
"""Transition and reason by receipt kind, in the order of application within a callback."""


PRICES: Final[Sequence[AddPrices]] = (*function_at(Place.RECEIPT_PRICES),)
"""Functions that store the prices of receipts, in the transaction of the callback."""

_FAILURES: Final = frozenset({ReceiptKind.FAILED, ReceiptKind.BOUNCED})


class _Callback(NamedTuple):
    """The receipts of a provider's HTTP call."""

    provider: str
    receipts: Sequence[Receipt]


def record(provider: str, receipts: Sequence[Receipt]) -> int:
    """Apply a provider's receipts; returns the number of changed deliveries. Safe to run twice.

    A receipt changes only deliveries of the reporting provider. Concurrent callbacks share a
    transaction (see `receipt_groups`).
    """
    return _group.run(_Callback(provider, receipts)) if receipts else 0


def _record(callbacks: Sequence[_Callback]) -> list[int]:
    moved: dict[str, set[UUID]] = {}
    targets = _targets(callbacks)
    for provider in dict.fromkeys(each.provider for each in callbacks):
        applicable = [
            (receipt, delivery_id)
            for callback, ids_ in zip(callbacks, targets, strict=True)
            if callback.provider == provider
            for receipt, delivery_id in zip(callback.receipts, ids_, strict=True)
            if delivery_id is not None
        ]
        moved[provider] = _apply(provider, applicable)
        for add in PRICES:
            add(provider, applicable)
    counts = []
    for callback, ids_ in zip(callbacks, targets, strict=True):
        mine = moved[callback.provider].intersection(ids_)
        moved[callback.provider] -= mine  # a change counts for its first receipt only
        counts.append(len(mine))
        if without := len(callback.receipts) - len(mine):
            _log.info("receipts_without_effect", provider=callback.provider, count=without)
    return counts


def _targets(callbacks: Sequence[_Callback]) -> list[list[UUID | None]]:
    """Return the delivery of each receipt; None for an unknown delivery."""
    unnamed = [
        receipt for each in callbacks for receipt in each.receipts if receipt.delivery_id is None
    ]
    known = _find_by_message_id(unnamed)
    return [
        [
            each.delivery_id or _own(known.get(each.provider_message_id, {}), callback.provider)
            for each in callback.receipts
        ]
        for callback in callbacks
    ]


def _apply(provider: str, applicable: Sequence[tuple[Receipt, UUID]]) -> set[UUID]:
    """Apply receipts of a provider; returns the changed deliveries."""
    by_kind: dict[ReceiptKind, list[Move]] = defaultdict(list)
    secret = withholding.with_sensitive_variables({
        each for receipt, each in applicable if receipt.detail
    })
    for receipt, delivery_id in applicable:
        is_secret = delivery_id in secret
        said = (receipt.code, withholding.NOT_KEPT if is_secret else redact(receipt.detail))
        move = Move(
            id=delivery_id,
            reason=_MEANS[receipt.kind][1],
            detail=": ".join(part for part in said if part),
            provider_message_id=receipt.provider_message_id,
            occurred_at=stages.storable(receipt.occurred_at),
        )
        by_kind[receipt.kind].append(move)
    _end_contacts(provider, applicable)
    moved = _move(provider, by_kind)
    secret_variables.wipe({ids.notification_of(each) for each in moved})
    return moved


def _end_contacts(provider: str, applicable: Sequence[tuple[Receipt, UUID]]) -> None:
    """Invalidate dead contacts, and suppress the addresses of opt-outs."""
    dead: dict[Cause, dict[UUID, DeadReport]] = defaultdict(dict)
    opted_out: dict[UUID, OptOut] = {}
    for receipt, delivery_id in applicable:
        why = f"{provider}: {receipt.code or receipt.kind.value}"
        at = stages.storable(receipt.occurred_at)
        if receipt.contact_is_dead:
            cause = Cause.COMPLAINT if receipt.has_complained else Cause.BOUNCE
            dead[cause][delivery_id] = DeadReport(why, at)
        if receipt.has_opted_out:
            opted_out[delivery_id] = OptOut(why, at)
    for cause, reports in dead.items():
        dead_contacts.invalidate_of_deliveries(reports, provider=provider, cause=cause)
    opted_out_contacts.record_of_deliveries(opted_out, provider=provider)


def _move(provider: str, by_kind: Mapping[ReceiptKind, Sequence[Move]]) -> set[UUID]:
    """Apply the transitions of receipts; returns the changed deliveries."""
    moved: set[UUID] = set()
    for kind, (transition, _) in _MEANS.items():
        told = by_kind.get(kind, ())
        guard = FromProvider(provider)
        moves: Mapping[UUID, Move] = {each.id: each for each in told}
        if kind in _FAILURES:
            moves, numbers = failed_calls.of_last_calls(provider, told)
            guard = FromProvider(provider, numbers)
        moved.update(fallback_receipts.apply(transition, moves, guard))
    return moved


def _find_by_message_id(receipts: Sequence[Receipt]) -> Mapping[str, Mapping[str, UUID]]:
    """Find deliveries by message id and provider, for providers that do not echo our id."""
    wanted = [each.provider_message_id for each in receipts if each.provider_message_id]
    if not wanted:
        return {}
    recent = id_ranges.last_days(_RECEIPT_DAYS)
    found = db.rows("by_provider_message_id", {**recent, "message_ids": wanted})
    known: dict[str, dict[str, UUID]] = defaultdict(dict)
    for row in found:
        known[row["provider_message_id"]][row["provider"]] = row["id"]
    return known


def _own(rows: Mapping[str, UUID], provider: str) -> UUID | None:
    """Return the provider's own row with a message id.

    Two providers may use one id. A row whose provider changed after the call is found in the
    second place; the guard of the transition checks the provider of its attempts.
    """
    return rows.get(provider) or next(iter(rows.values()), None)


_group: Final = receipt_group(_record)
