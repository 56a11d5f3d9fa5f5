"""Delivery receipts: apply the providers' reports to deliveries.

A feature stores the prices of the receipts (`PRICES`), which settle the costs of the calls.

Receipts arrive early, late, twice, out of order or never; the transition table handles each case. A
failure counts only for the last call of a delivery. A receipt for a dead address invalidates the
contact even if the delivery's status stays (a complaint about a read message), unless the provider
calls most addresses dead (`store.rate_limits.bounce_doubts`), and an opt-out puts the address on
the suppression list. Contacts and list are changed first, so a callback repeated
after a crash has the full effect.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from django.db import transaction

from notifications.core import conf
from notifications.core.delivery import routing, withholding
from notifications.core.feedback import fallback_receipts
from notifications.core.feedback.receipt_groups import receipt_group
from notifications.core.gate import Place, function_at
from notifications.core.rules import addresses, ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.reasons import Reason
from notifications.core.rules.redaction import address_hash, code_of, redact
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.storable_texts import storable
from notifications.core.rules.suppression import Cause, address_fault
from notifications.core.rules.times import stages
from notifications.core.rules.transitions import BOUNCE, DELIVER, FAIL, READ
from notifications.core.store.postgres import (
    alerts,
    db,
    dead_contacts,
    id_ranges,
    opted_out_contacts,
    secret_variables,
    suppressions,
)
from notifications.core.store.postgres.dead_contacts import DeadReport
from notifications.core.store.postgres.opted_out_contacts import OptOut
from notifications.core.store.postgres.transitions import FromProvider, Move
from notifications.core.store.rate_limits import bounce_doubts
from providers.contract import Receipt, ReceiptKind, Removal

_REMOVAL_NOTE: Final = "the provider removed the address from its suppression list"

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

_ARRIVALS: Final = frozenset({ReceiptKind.DELIVERED, ReceiptKind.READ})
_FAILURES: Final = frozenset({ReceiptKind.FAILED, ReceiptKind.BOUNCED})

_STOPPED_STATUSES: Final = {Status.EXPIRED, Status.SUPPRESSED, Status.CANCELLED}
_ACCEPTED_STATUSES: Final = [Status.SENT, Status.DELIVERED, Status.UNCONFIRMED]


class _Callback(NamedTuple):
    """The receipts of a provider's HTTP call."""

    provider: str
    receipts: Sequence[Receipt]


def record(provider: str, receipts: Sequence[Receipt]) -> int:
    """Apply a provider's receipts; returns the number of changed deliveries. Safe to run twice.

    A receipt changes only deliveries of the reporting provider. Concurrent callbacks share a
    transaction (see `receipt_groups`).
    """
    if not receipts:
        return 0
    return _group.run(_Callback(provider, [_storable(each) for each in receipts]))


def _storable(receipt: Receipt) -> Receipt:
    """Return the receipt with texts for Postgres: one broken text would fail the whole group."""
    return replace(
        receipt,
        provider_message_id=storable(receipt.provider_message_id),
        code=code_of(receipt.code),
        detail=storable(receipt.detail),
    )


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
    dead[Cause.BOUNCE] = _believable_bounces(provider, dead[Cause.BOUNCE], applicable)
    for cause, reports in dead.items():
        dead_contacts.invalidate_of_deliveries(reports, provider=provider, cause=cause)
    opted_out_contacts.record_of_deliveries(opted_out, provider=provider)


def _believable_bounces(
    provider: str,
    bounces: Mapping[UUID, DeadReport],
    applicable: Sequence[tuple[Receipt, UUID]],
) -> dict[UUID, DeadReport]:
    """Return the bounces that are not in doubt (`bounce_doubts`); raise an alert about the rest."""
    adapter = routing.provider_named(provider)
    trusted = bounce_doubts.believed(
        provider,
        adapter.capabilities.channels if adapter else (),
        dead=bounces.keys(),
        arrived=sum(receipt.kind in _ARRIVALS for receipt, _ in applicable),
    )
    doubted = len(bounces) - len(trusted)
    if doubted > 0:
        _log.warning("bounces_not_believed", provider=provider, count=doubted)
        detail = f"{doubted} of {len(bounces)} bounces of a callback ended no contact"
        alerts.raise_after_commit(AlertKind.BOUNCES_NOT_BELIEVED, provider, detail)
    return {key: report for key, report in bounces.items() if key in trusted}


def _move(provider: str, by_kind: Mapping[ReceiptKind, Sequence[Move]]) -> set[UUID]:
    """Apply the transitions of receipts; returns the changed deliveries."""
    moved: set[UUID] = set()
    for kind, (transition, _) in _MEANS.items():
        told = by_kind.get(kind, ())
        guard = FromProvider(provider)
        moves: Mapping[UUID, Move] = {each.id: each for each in told}
        if kind in _FAILURES:
            moves, numbers = _failures_of_last_calls(provider, told)
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


class _LastCalls(NamedTuple):
    """Failures of last calls."""

    moves: Mapping[UUID, Move]
    numbers: Mapping[UUID, int]
    """The number of the last call of each delivery."""


def _failures_of_last_calls(provider: str, failures: Iterable[Move]) -> _LastCalls:
    """Return the failures of the last calls; the others become events. Safe to run twice.

    A failure of the last call ends the delivery. A failure of an earlier call is an event of the
    timeline and nothing else: the resend, the replay or the next provider decides about the
    delivery. So is a failure after an expiry, a suppression or a cancellation: a later acceptance
    of the call changes the delivery no more.

    The message id of the receipt names the call. A receipt without an id, or with an id that no
    answer contained (a call without an answer, a further part of a long SMS), is about an earlier
    call of the provider without an answer if there is one, or else about the provider's last call.
    So an unclear receipt never ends a delivery whose last call may succeed.

    A positive receipt of any call counts, because the message arrived.

    Args:
        provider: the provider that reports.
        failures: a move for each failure receipt; a delivery can have several.
    """
    reported = list(failures)
    moves: dict[UUID, Move] = {}
    numbers: dict[UUID, int] = {}
    earlier: list[Move] = []
    for row in _calls_of_failures(provider, reported) if reported else ():
        move, call, last = reported[row["place"]], row["call"], row["last"]
        if call == last and not row["is_over"]:
            moves[move.id], numbers[move.id] = move, last
        else:
            detail = ": ".join(part for part in (f"call {call} of {last}", move.detail) if part)
            earlier.append(move._replace(detail=detail[:500]))
    _note_failures(earlier)
    return _LastCalls(moves, numbers)


def _calls_of_failures(provider: str, reported: Sequence[Move]) -> Sequence[Mapping[str, int]]:
    ids = [each.id for each in reported]
    parameters = {
        **id_ranges.around(ids),
        "ids": ids,
        "message_ids": [each.provider_message_id for each in reported],
        "provider": provider,
        "over": sorted(OPEN - {Status.SENDING} | _STOPPED_STATUSES),
        "sending": Status.SENDING,
        "accepted": _ACCEPTED_STATUSES,
        "delivered": Status.DELIVERED,
    }
    return db.rows("failed_calls", parameters)


def _note_failures(earlier: Sequence[Move]) -> None:
    if not earlier:
        return
    parameters = {
        "ids": [each.id for each in earlier],
        "reasons": [each.reason for each in earlier],
        "details": [each.detail for each in earlier],
        "occurred_at": [each.occurred_at for each in earlier],
    }
    db.in_transaction(lambda: db.run("note_failed_calls", parameters))


def record_removals(provider: str, removals: Sequence[Removal]) -> int:
    """Undo the provider's entries of removed addresses; return the count. Safe to run twice.

    A vendor took addresses off its own suppression list, and sends to them again. A removal ends
    the entries that reports of the same provider made: the bounce, or the opt-out. An entry of
    another author stays, such as a complaint, an operator's entry or an opt-out by our own page. A
    callback can come late or again, so an entry that is younger than the removal stays too.
    """
    return sum(_record_removal(provider, each) for each in removals)


def _record_removal(provider: str, removal: Removal) -> int:
    if address_fault(removal.channel, removal.address):
        return 0
    causes = [Cause.BOUNCE] * removal.ends_bounce
    causes += [opted_out_contacts.CAUSES[removal.channel]] * removal.ends_opt_out
    with transaction.atomic():
        suppressions.lock([(removal.channel, removal.address)])
        rows = suppressions.of_address(removal.channel, removal.address)
        rows = rows.filter(provider=provider, reason__in=causes)
        if removal.occurred_at is not None:
            rows = rows.filter(created_at__lte=removal.occurred_at)
        undone = suppressions.undo(rows, by=provider, note=_REMOVAL_NOTE)
    form = addresses.usable_form(removal.channel, removal.address)
    hashed = address_hash(form, key=conf.current().hash_key)
    _log.info("removal_received", provider=provider, address_hash=hashed, changed=undone)
    return undone


_group: Final = receipt_group(_record)
