"""Revoked tokens: the recipients to drop from memory, and the ended tokens of open connections.

Each process keeps recipients in memory and reads the newest revocations once a second, so a
revocation acts within two seconds everywhere without a query per token. An erasure is a revocation,
too. While the database is away, no token is accepted.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Collection
from typing import Final

from django.db import transaction

from notifications.core import clock
from notifications.core.models import Recipient
from notifications.core.rules.recipient_tokens import RecipientToken
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import audit, token_revocations
from notifications.core.store.recipient_tokens import signing_keys
from notifications.core.store.recipient_tokens.signing_keys import SigningKey

_EVERY: Final = dt.timedelta(seconds=1)
"""Between two reads; half of the time that a revocation may take."""
_OVERLAP: Final = dt.timedelta(seconds=30)
"""Longer than a transaction that revokes: its row is noted before the commit."""


class _Reads:
    """The last read of revocations."""

    lock = threading.Lock()
    at = float("-inf")
    """Monotonic seconds at its start."""


def follow() -> None:
    """Drop the kept recipients with a new revocation. Reads the database once a second.

    A read covers the time since the last read and _OVERLAP. While a thread reads, the others go on.

    Raises:
        django.db.OperationalError: the database is away.
    """
    now = clock.monotonic()
    if now - _Reads.at < _EVERY.total_seconds() or not _Reads.lock.acquire(blocking=False):
        return
    try:
        age = now - _Reads.at
        if age > recipient_ids.KEPT_AT_MOST.total_seconds():
            recipient_ids.forget()
        else:
            since = dt.timedelta(seconds=age) + _OVERLAP
            recipient_ids.drop(token_revocations.find_recent(since))
        _Reads.at = now
    finally:
        _Reads.lock.release()


def forget() -> None:
    """Read again on the next call."""
    _Reads.at = float("-inf")


def revoke(recipient: Recipient, *, by: str) -> None:
    """Revoke all tokens of a recipient issued until now, with an entry of the audit log.

    Args:
        recipient: the recipient.
        by: the actor for the audit log.
    """
    with transaction.atomic():
        token_revocations.revoke([recipient.pk])
        until = token_revocations.find([recipient.pk])[recipient.pk]
        after = {"tokens_revoked_before": until.isoformat()}
        audit.record(by, "revoke_client_tokens", recipient, after=after)


def find_revoked(tokens: Collection[RecipientToken]) -> list[RecipientToken]:
    """Return the tokens revoked since the verification, in a statement.

    Expired tokens are left out: a connection ends with the token.

    Raises:
        django.db.OperationalError: the database is away.
    """
    if not tokens:
        return []
    keys = {each: signing_keys.find(each) for each in {token.key_id for token in tokens}}
    before = token_revocations.find({token.recipient_id for token in tokens})
    return [
        token
        for token in tokens
        if not _is_active(keys[token.key_id])
        or is_before(keys[token.key_id], token.issued_at, before.get(token.recipient_id))
    ]


def is_before(key: SigningKey | None, issued_at: dt.datetime, until: dt.datetime | None) -> bool:
    """Return True for a revoked token.

    Args:
        key: the key that signed the token.
        issued_at: `iat` of the token.
        until: the instant up to which the recipient's tokens are revoked; None: no revocation.
    """
    skew = key.clock_skew if key is not None else dt.timedelta(0)
    return until is not None and issued_at - skew <= until


def _is_active(key: SigningKey | None) -> bool:
    return key is not None and not key.is_revoked and key.producer_is_active
