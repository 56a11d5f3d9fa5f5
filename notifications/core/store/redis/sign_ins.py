"""Sign-ins of operators: limits of attempts, and the list of sessions.

Each attempt costs one unit in up to three buckets (`lua/gcra.lua`): the bucket of the address; the
bucket of the account with the address; and, unless the account signed in from the address lately,
the bucket of the account with all unknown addresses. An attacker therefore exhausts the bucket of
unknown addresses, and the operator's usual address has a separate bucket. Names and addresses are
stored as keyed hashes.

While the state Redis is away attempts are not counted, so that operators can sign in during an
outage.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, cast

import structlog
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from redis.exceptions import RedisError

from notifications.core import clock, conf
from notifications.core.models import SignIn
from notifications.core.rules import redaction
from notifications.core.store.redis import state

_log = structlog.get_logger(__name__)

KNOWN_FOR: Final = dt.timedelta(days=30)
"""Time for which an address counts as known to an account after a sign-in."""
BY_PROVIDER: Final = "single_sign_on"
"""Field of a session that began with single sign-on, so without a code of this service."""
_SEEN_EVERY: Final = dt.timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class _Bucket:
    burst: int
    """Tries at once."""
    every: dt.timedelta
    """Interval between attempts after the burst."""


_OF_ADDRESS: Final = _Bucket(30, dt.timedelta(seconds=10))
_OF_PAIR: Final = _Bucket(5, dt.timedelta(seconds=30))
_OF_ACCOUNT: Final = _Bucket(10, dt.timedelta(minutes=1))


def wait(*, account: str, address: str) -> dt.timedelta:
    """Count an attempt; return the wait before the attempt is granted, zero for now."""
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
    """Clear the attempts of an account from a known address, and store the address as known."""
    whose, where = _hash(account), _hash(address)
    try:
        state.client().delete(f"signin:pair:{whose}:{where}")
        state.client().set(_known_key(whose, where), 1, ex=KNOWN_FOR)
    except (state.Away, RedisError):
        pass


def begin(*, user_id: int, session_key: str, address: str, agent: str) -> SignIn:
    """List a session; a second sign-in in an open session replaces the first."""
    signed_in = {"user_id": user_id, "address": address or None, "agent": agent[:200]}
    made, _ = SignIn.objects.update_or_create(session_key=session_key, defaults=signed_in)
    return made


def see(sign_in_id: int, *, session_key: str) -> None:
    """Record the use of a session; a changed password gives the session another key."""
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


def _known_key(whose: str, where: str) -> str:
    return f"signin:known:{whose}:{where}"


def _hash(text: str) -> str:
    return redaction.address_hash(text.lower(), key=conf.current().hash_key)
