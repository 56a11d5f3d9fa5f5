"""Sensitive variables: encrypted at rest, wiped when no delivery can need them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import orjson
from cryptography.fernet import Fernet, MultiFernet

from notifications import conf
from notifications.rules.states import OPEN, Status
from notifications.store import db, spans


@functools.cache
def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in conf.current().encryption_keys])


def seal(variables: Mapping[str, Any]) -> bytes:
    """Encrypt with the first key."""
    return _keys().encrypt(orjson.dumps(variables))


def unseal(sealed: bytes) -> dict[str, Any]:
    """Decrypt with any of the keys.

    Raises:
        cryptography.fernet.InvalidToken: none of the configured keys made it.
    """
    opened: dict[str, Any] = orjson.loads(_keys().decrypt(bytes(sealed)))
    return opened


def wipe(notification_ids: Iterable[UUID]) -> int:
    """Wipe variables that no delivery and no dead letter can need. Safe at any time."""
    statuses = {"open": sorted(OPEN), "unknown": Status.UNKNOWN}
    return sum(
        db.run("wipe_secrets", {**span, **statuses, "ids": wanted})
        for span, wanted in spans.by_day(notification_ids)
    )


def wipe_expired(*, limit: int) -> int:
    """Wipe the variables of up to `limit` expired notifications."""
    expired = [row["id"] for row in db.rows("secrets_expired", {"limit": limit})]
    return db.run("wipe_expired", {"ids": expired}) if expired else 0
