"""Confirm: receipts move deliveries on.

They come early, late, twice, out of order or never; the move table knows. One that calls an address
dead does so whether it moves anything or not: a complaint about a message that was read moves
nothing. That is done first, so that a callback which comes again after a crash has lost nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import structlog

from notifications.rules import ids
from notifications.rules.reasons import Reason
from notifications.rules.redaction import redacted
from notifications.rules.suppression import Cause
from notifications.rules.transitions import BOUNCE, DELIVER, FAIL, READ
from notifications.store import contacts, db, spans, transitions, vault
from notifications.store.transitions import FromProvider, Move
from providers.contract import Receipt, ReceiptKind

_log = structlog.get_logger(__name__)

_RECEIPT_DAYS: Final = 10
"""How old a delivery may be that is found by the provider's message id. SMS networks report within
three days and mail servers bounce within five; a receipt that echoes our own id is found for as
long as the delivery is kept. Without a limit each foreign receipt would ask every partition."""

_MEANS: Final = {
    ReceiptKind.FAILED: (FAIL, Reason.RECEIPT_FAILED),
    ReceiptKind.BOUNCED: (BOUNCE, Reason.RECEIPT_BOUNCED),
    ReceiptKind.DELIVERED: (DELIVER, Reason.RECEIPT_DELIVERED),
    ReceiptKind.READ: (READ, Reason.RECEIPT_READ),
}
"""In the order in which the receipts of one callback are applied."""


def record(provider: str, receipts: Sequence[Receipt]) -> int:
    """Apply a provider's receipts; returns how many moved a delivery.

    A receipt only moves a delivery whose call this provider had. Safe to run twice: the second
    moves nothing.
    """
    by_reference = _resolved([each for each in receipts if each.delivery_id is None])
    by_kind: dict[ReceiptKind, dict[UUID, Move]] = defaultdict(dict)
    dead: dict[Cause, dict[UUID, str]] = defaultdict(dict)
    for receipt in receipts:
        delivery_id = receipt.delivery_id or by_reference.get(receipt.provider_message_id)
        if delivery_id is None:
            continue
        said = (receipt.code, redacted(receipt.detail))
        by_kind[receipt.kind][delivery_id] = Move(
            id=delivery_id,
            reason=_MEANS[receipt.kind][1],
            detail=": ".join(part for part in said if part),
            provider_message_id=receipt.provider_message_id,
        )
        if receipt.contact_is_dead:
            why = f"{provider}: {receipt.code or receipt.kind.value}"
            dead[_cause(receipt)][delivery_id] = why
    for cause, reasons in dead.items():
        contacts.invalidate_of_deliveries(reasons, provider=provider, cause=cause)
    moved: set[UUID] = set()
    for kind, (transition, _) in _MEANS.items():
        moved.update(transitions.apply(transition, by_kind[kind].values(), FromProvider(provider)))
    vault.wipe({ids.notification_of(each) for each in moved})
    if len(moved) < len(receipts):
        _log.info("receipts_without_effect", provider=provider, count=len(receipts) - len(moved))
    return len(moved)


def _cause(receipt: Receipt) -> Cause:
    """A message that arrived and still costs us its address was complained about."""
    arrived = receipt.kind in {ReceiptKind.DELIVERED, ReceiptKind.READ}
    return Cause.COMPLAINT if arrived else Cause.BOUNCE


def _resolved(receipts: Sequence[Receipt]) -> dict[str, UUID]:
    """Deliveries by the provider's own message id, where it does not echo ours."""
    wanted = [each.provider_message_id for each in receipts if each.provider_message_id]
    if not wanted:
        return {}
    recent = spans.last_days(_RECEIPT_DAYS)
    found = db.rows("by_provider_message_id", {**recent, "message_ids": wanted})
    return {row["provider_message_id"]: row["id"] for row in found}
