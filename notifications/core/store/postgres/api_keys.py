"""API keys: create, rotate, revoke and verify.

A key has the form `nk_live_4f9k2m7q_<52 random characters>`. The part before the last underscore is
the prefix, which finds the row and is public. The database holds only the SHA-256 of the whole key;
a fast hash is enough, because 268 random bits cannot be guessed.

A revoked, expired or disabled key stops working within CACHED_FOR, as long as the clock of the
process runs.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import math
import re
import secrets
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from notifications.core import clock
from notifications.core.models import ApiKey, Producer
from notifications.core.rules import access
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.scopes import GRANTABLE, Scope

CACHED_FOR: Final = dt.timedelta(seconds=1)
"""Lifetime of a cached key: half of the two seconds that a revocation may take."""
_MOST_UNKNOWN: Final = 10_000
"""Upper bound of the cached unknown prefixes, so that guesses cannot exhaust the memory."""
_ALPHABET: Final = string.ascii_lowercase + string.digits
_PUBLIC_LENGTH: Final = 8
_SECRET_LENGTH: Final = 52
"""Of 36 letters: 268 bits."""
_PREFIX: Final = re.compile(rf"nk_(?:live|test)_[a-z0-9]{{{_PUBLIC_LENGTH}}}")
_SHAPE: Final = re.compile(rf"({_PREFIX.pattern})_[a-z0-9]{{32,64}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """A key as last read from the database."""

    prefix: str
    digest: bytes
    mode: Mode
    scopes: frozenset[str]
    expires_at: dt.datetime | None
    is_revoked: bool
    producer_id: int
    producer_name: str
    producer_is_active: bool
    priorities: frozenset[Priority]
    may_send_content: bool
    rate_per_second: int
    rate_burst: int

    def grants(self, scope: Scope) -> bool:
        """Return True if the key has the scope."""
        return scope in self.scopes or scope.wildcard in self.scopes

    def is_valid(self, secret: str, *, now: dt.datetime) -> bool:
        """Compare a secret with the key in constant time; True if equal and the key is valid."""
        same = hmac.compare_digest(self.digest, _digest(secret))
        expired = self.expires_at is not None and self.expires_at <= now
        return same and not expired and not self.is_revoked


def issue(
    producer: Producer,
    *,
    mode: Mode,
    scopes: Iterable[str],
    note: str = "",
    expires_at: dt.datetime | None = None,
    by: str = "",
) -> tuple[ApiKey, str]:
    """Create a key; return the row and the secret, which cannot be read again.

    Raises:
        ValueError: a scope is unknown, or has no use for a key of the mode.
    """
    wanted = sorted(set(scopes))
    if unknown := set(wanted) - GRANTABLE:
        msg = (
            f"no such scope: {', '.join(sorted(unknown))}; there are {', '.join(sorted(GRANTABLE))}"
        )
        raise ValueError(msg)
    if useless := access.useless(wanted, mode):
        msg = f"a {mode.label} key may not have {', '.join(useless)}: they belong to live mode"
        raise ValueError(msg)
    prefix = f"nk_{mode.label}_{_chance(_PUBLIC_LENGTH)}"
    secret = f"{prefix}_{_chance(_SECRET_LENGTH)}"
    key = ApiKey.objects.create(
        producer=producer,
        prefix=prefix,
        digest=_digest(secret),
        mode=mode,
        scopes=wanted,
        note=note,
        expires_at=expires_at,
        created_by=by,
    )
    return key, secret


class NotRotatable(Exception):
    """The key is revoked, expired, or already rotated; use the replacement."""


def rotate(key: ApiKey, *, overlap: dt.timedelta, by: str) -> tuple[ApiKey, str]:
    """Create a replacement key with the same scopes; the old key works for `overlap` longer.

    The new key has the expiry of the old key. Scopes without a use for the key's mode are left out;
    a key of an older release may have such scopes.

    Raises:
        NotRotatable: the key is revoked, expired or already rotated.
    """
    with transaction.atomic():
        old = ApiKey.objects.select_for_update().select_related("producer").get(pk=key.pk)
        now = clock.now()
        if old.revoked_at is not None or (old.expires_at is not None and old.expires_at <= now):
            raise NotRotatable(f"{old.prefix} is revoked or expired")
        if ApiKey.objects.filter(replaces=old).exists():
            raise NotRotatable(f"{old.prefix} was rotated before")
        made, secret = issue(
            old.producer,
            mode=Mode(old.mode),
            scopes=set(old.scopes) - set(access.useless(old.scopes, Mode(old.mode))),
            note=old.note,
            expires_at=old.expires_at and now + (old.expires_at - old.created_at),
            by=by,
        )
        made.replaces = old
        made.save(update_fields=("replaces",))
        old.expires_at = min(now + overlap, old.expires_at or now + overlap)
        old.save(update_fields=("expires_at",))
    return made, secret


def revoke(rows: QuerySet[ApiKey], *, by: str) -> int:
    """Let keys stop working; returns how many worked till now."""
    return rows.filter(revoked_at=None).update(revoked_at=clock.now(), revoked_by=by)


def recognise(secret: str) -> KnownKey | None:
    """Find the presented key; None if the key is unknown or no longer valid.

    Raises:
        django.db.OperationalError: the key is not cached, and the database is away.
    """
    shape = _SHAPE.fullmatch(secret)
    if shape is None:
        return None
    known = _find_key(shape[1])
    return known if known is not None and known.is_valid(secret, now=clock.now()) else None


def of_prefix(prefix: str) -> KnownKey | None:
    """Return the key with a prefix, also a revoked or expired key; None for an unknown prefix.

    Raises:
        django.db.OperationalError: the key is not cached, and the database is away.
    """
    return _find_key(prefix) if _PREFIX.fullmatch(prefix) else None


def is_cached(prefix: str) -> bool:
    """Return True if the prefix belonged to a key at the last lookup. Makes no query."""
    return prefix in _cache


def verified(secret: str) -> KnownKey | None:
    """Return a valid cached key of an active producer; None for any other. Makes no query."""
    shape = _SHAPE.fullmatch(secret)
    hit = _cache.get(shape[1]) if shape is not None else None
    if hit is None or clock.monotonic() - hit[0] >= CACHED_FOR.total_seconds():
        return None
    known = hit[1]
    is_good = known.producer_is_active and known.is_valid(secret, now=clock.now())
    return known if is_good else None


def is_current(key: KnownKey) -> bool:
    """Return True if a key that `verified` has returned may still be used. Makes no query."""
    hit = _cache.get(key.prefix)
    if hit is None or clock.monotonic() - hit[0] >= CACHED_FOR.total_seconds():
        return False
    is_same = hit[1] is key or hit[1] == key
    return is_same and (key.expires_at is None or key.expires_at > clock.now())


def is_known(secret: str) -> bool:
    """Return True if the prefix belonged to a key at the last lookup. Makes no query."""
    shape = _SHAPE.fullmatch(secret)
    return shape is not None and shape[1] in _cache


def forget() -> None:
    """Clear the cached keys."""
    _cache.clear()
    _unknown.clear()


_cache: dict[str, tuple[float, KnownKey]] = {}
"""Prefix -> when the key was read (monotonic seconds), and the key. As many as there are keys."""
_unknown: dict[str, float] = {}
"""Unknown prefix -> time of the lookup. A separate dict, so that guesses evict no valid key."""


def _find_key(prefix: str) -> KnownKey | None:
    now = clock.monotonic()
    hit = _cache.get(prefix)
    if hit is not None and now - hit[0] < CACHED_FOR.total_seconds():
        return hit[1]
    if now - _unknown.get(prefix, -math.inf) < CACHED_FOR.total_seconds():
        return None
    found = _load(prefix)
    if found is not None:
        _cache[prefix] = (now, found)
        return found
    _cache.pop(prefix, None)
    if len(_unknown) >= _MOST_UNKNOWN:
        _unknown.clear()  # cheaper than keeping order, and rare
    _unknown[prefix] = now
    return None


def _load(prefix: str) -> KnownKey | None:
    key = ApiKey.objects.select_related("producer").filter(prefix=prefix).first()
    if key is None:
        return None
    producer = key.producer
    return KnownKey(
        prefix=key.prefix,
        digest=bytes(key.digest),
        mode=Mode(key.mode),
        scopes=frozenset(key.scopes),
        expires_at=key.expires_at,
        is_revoked=key.revoked_at is not None,
        producer_id=producer.pk,
        producer_name=producer.name,
        producer_is_active=producer.is_active,
        priorities=frozenset(map(Priority, producer.priorities)),
        may_send_content=producer.may_send_content,
        rate_per_second=producer.rate_per_second,
        rate_burst=producer.rate_burst,
    )


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _chance(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
