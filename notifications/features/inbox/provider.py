"""The adapter `inbox`: delivers messages of the channel in_app into inboxes.

    send()  ->  rows.writes.add(items)  ->  Accepted      the item is committed
                                            NotStarted    the database is away
                                            Rejected      the database refuses this item

The adapter needs no setting. A second call with the same delivery adds nothing
(`Repeat.DEDUPLICATED`), so a worker killed after the commit is harmless. An outage of
Postgres is NotStarted: no attempt is spent, no breaker opens and no dead letter arises, because
claims and settles fail in the same outage, and the deliveries continue when Postgres is back.

An item is `delivered` when the recipient has seen it, and `read` when the recipient has opened it
(`features.inbox.reports`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from notifications.core import clock
from notifications.core.rules import in_app
from notifications.core.store.postgres import db
from notifications.features.inbox.rows import writes
from notifications.features.inbox.rows.items import NewItem
from providers.contract import (
    Accepted,
    Capabilities,
    Channel,
    Finding,
    InboundText,
    Message,
    NotStarted,
    Outcome,
    Receipt,
    ReceiptRequest,
    Rejected,
    Repeat,
    Result,
)
from providers.errors import InvalidSignature
from providers.message_parts import InApp

_log = structlog.get_logger(__name__)

_AWAY: Final = (OperationalError, InterfaceError)
_NO_PARTS: Final = Rejected(
    code="no_recipient", detail="the inbox takes messages of notifications, not of addresses"
)


class InboxProvider:
    """Stores in-app messages as inbox items; thread-safe."""

    name = in_app.PROVIDER
    capabilities = Capabilities(
        channels=frozenset({Channel.IN_APP}),
        repeat=Repeat.DEDUPLICATED,
        gives_receipts=True,
        withdraws=True,
    )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def send(self, batch: Sequence[Message], *, deadline: dt.timedelta) -> Iterator[Result]:
        """Store a batch in one transaction, or remove the items of withdrawals.

        The lock timeout of the session bounds the wait for other writers of an inbox. A connection
        that the call has opened is closed: each wave of calls has a thread of its own.
        """
        del deadline
        if not batch:
            return
        is_open = connection.connection is not None
        began = clock.monotonic()
        try:
            outcomes = _outcomes(batch)
        finally:
            if not is_open:
                connection.close()
        latency = dt.timedelta(seconds=clock.monotonic() - began)
        for message, outcome in zip(batch, outcomes, strict=True):
            yield Result(
                delivery_id=message.delivery_id,
                outcome=outcome,
                latency=dt.timedelta(0) if isinstance(outcome, NotStarted) else latency,
            )

    def parse_receipt(self, request: ReceiptRequest) -> Sequence[Receipt | InboundText]:
        """Refuse every callback: reports come from the recipient's own apps.

        Raises:
            InvalidSignature: always.
        """
        del request
        raise InvalidSignature("the inbox has no callbacks")

    def check(self, *, deadline: dt.timedelta) -> Iterator[Finding]:
        """Check that the database takes writes."""
        del deadline
        try:
            is_good = db.is_writable()
        except DatabaseError:
            is_good = False
        detail = "the database takes writes" if is_good else "the database is away or read-only"
        yield Finding(subject="database", is_good=is_good, detail=detail)


def _outcomes(batch: Sequence[Message]) -> list[Outcome]:
    """Store the items and remove withdrawn items."""
    now = clock.now()
    items = {
        each.delivery_id: _item(each, each.in_app, now=now)
        for each in batch
        if each.in_app is not None and not each.is_withdrawal
    }
    withdrawn = [each.notification_id for each in batch if each.is_withdrawal]
    try:
        if withdrawn:
            writes.withdraw(withdrawn)
        refused = _add(list(items.values()))
    except _AWAY as error:
        # The database is away: the messages wait, and no attempt is spent.
        _log.warning("inbox_away", why=type(error.__cause__ or error).__name__, count=len(batch))
        return [NotStarted(code="database")] * len(batch)
    return [
        refused.get(each.delivery_id, Accepted())
        if each.delivery_id in items or each.is_withdrawal
        else _NO_PARTS
        for each in batch
    ]


def _add(items: Sequence[NewItem]) -> dict[UUID, Outcome]:
    """Add items; returns the outcomes of refused items. One refused item stops no other.

    Raises:
        OperationalError: the database is away.
        InterfaceError: as OperationalError.
    """
    if not items:
        return {}
    try:
        writes.add(items)
    except _AWAY:
        raise
    except DatabaseError as error:
        if len(items) == 1:
            code = getattr(error.__cause__, "sqlstate", None) or "database"
            return {items[0].id: Rejected(code=code, detail="the database refused the item")}
        return {name: outcome for each in items for name, outcome in _add([each]).items()}
    return {}


def _item(message: Message, parts: InApp, *, now: dt.datetime) -> NewItem:
    return NewItem(
        id=message.delivery_id,
        recipient_id=parts.recipient_id,
        notification_id=message.notification_id,
        type=message.data.get("type", ""),
        category=parts.category,
        title=_storable(message.title),
        body=_storable(message.body),
        url=parts.url,
        image_url=parts.image_url,
        actions=[
            {"id": each.id, "label": _storable(each.label), "url": each.url or None}
            for each in parts.actions
        ],
        data=dict(parts.data),
        collapse_key=message.collapse_key,
        created_at=now,
        expires_at=now + parts.lifetime if parts.lifetime else None,
    )


def _storable(text: str) -> str:
    """Return the text without characters refused by Postgres: NUL, and half of a surrogate pair."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\x00", "")
