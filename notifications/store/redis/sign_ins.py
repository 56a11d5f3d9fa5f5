"""Signing in: how often somebody may try, and which sessions there are.

Each try costs one unit of three buckets (`lua/gcra.lua`): of the address; of the account from this
address; and, unless the account signed in from this address lately, of the account from all
addresses it never used. So a stranger who tries passwords slows strangers down, and not the
operator, whose own address has a bucket of its own. Names and addresses are kept as keyed hashes.

While the state Redis is away tries are not counted: an operator must get in during an outage.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, cast

import structlog
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from redis.exceptions import RedisError

from notifications import clock, conf
from notifications.models import SignIn
from notifications.rules import redaction
from notifications.store.redis import state

_log = structlog.get_logger(__name__)

KNOWN_FOR: Final = dt.timedelta(days=30)
"""How long an address is an account's own after it signed in there."""
KEPT: Final = dt.timedelta(days=90)
"""How long ended sessions are listed."""
_SEEN_EVERY: Final = dt.timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _Bucket:
    burst: int
    """Tries at once."""
    every: dt.timedelta
    """Between two tries after that."""


_OF_ADDRESS: Final = _Bucket(30, dt.timedelta(seconds=10))
_OF_PAIR: Final = _Bucket(5, dt.timedelta(seconds=30))
_OF_ACCOUNT: Final = _Bucket(10, dt.timedelta(minutes=1))


def wait(*, account: str, address: str) -> dt.timedelta:
    """Count a try; returns how long to wait before it is granted, zero for now."""
    whose, where = _hash(account), _hash(address)
    asked = {f"signin:address:{where}": _OF_ADDRESS, f"signin:pair:{whose}:{where}": _OF_PAIR}
    try:
        if not state.client().exists(_known_key(whose, where)):
            asked[f"signin:account:{whose}"] = _OF_ACCOUNT
        arguments: list[str | int | float | bytes] = [
            part
            for each in asked.values()
            for part in (each.every / dt.timedelta(microseconds=1), each.burst, 1)
        ]
        answers = cast("list[list[int]]", state.call("gcra", list(asked), arguments))
    except (state.Away, RedisError):
        _log.warning("sign_in_not_counted", account_hash=whose)
        return dt.timedelta(0)
    return dt.timedelta(microseconds=max(answer[3] for answer in answers))


def record_success(*, account: str, address: str) -> None:
    """Forget the tries of an account from its own address, and know the address."""
    whose, where = _hash(account), _hash(address)
    try:
        state.client().delete(f"signin:pair:{whose}:{where}")
        state.client().set(_known_key(whose, where), 1, ex=KNOWN_FOR)
    except (state.Away, RedisError):
        pass


def begin(*, user_id: int, session_key: str, address: str, agent: str) -> SignIn:
    """List a session that begins now."""
    return SignIn.objects.create(
        user_id=user_id, session_key=session_key, address=address or None, agent=agent[:200]
    )


def see(sign_in_id: int, *, session_key: str) -> None:
    """Note that a session is used; changing a password gives it another key."""
    now = clock.now()
    mine = SignIn.objects.filter(pk=sign_in_id, ended_at=None)
    mine.exclude(seen_at__gt=now - _SEEN_EVERY, session_key=session_key).update(
        seen_at=now, session_key=session_key
    )


def end(rows: QuerySet[SignIn], *, by: str) -> int:
    """End sessions at once; returns how many were open."""
    open_rows = list(rows.filter(ended_at=None))
    Session.objects.filter(session_key__in=[row.session_key for row in open_rows]).delete()
    return SignIn.objects.filter(pk__in=[row.pk for row in open_rows], ended_at=None).update(
        ended_at=clock.now(), ended_by=by
    )


def discard_old(*, limit: int) -> int:
    """Delete sessions that expired and sign-ins of long ago; returns how many."""
    now = clock.now()
    expired = Session.objects.filter(expire_date__lt=now).values("pk")[:limit]
    deleted, _ = Session.objects.filter(pk__in=expired).delete()
    old = SignIn.objects.filter(seen_at__lt=now - KEPT).values("pk")[:limit]
    return deleted + SignIn.objects.filter(pk__in=old).delete()[0]


def _known_key(whose: str, where: str) -> str:
    return f"signin:known:{whose}:{where}"


def _hash(text: str) -> str:
    return redaction.address_hash(text.lower(), key=conf.current().hash_key)
