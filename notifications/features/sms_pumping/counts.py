"""Counts of P0 and P1 SMS against the ceilings of SMS pumping protection.

The counts are in the state Redis. One Lua call counts a request or a claim, so concurrent processes
together stay below the ceilings. The clock is the clock of Redis. An SMS has a member that stays
the same in each repeat (`request_of`), so a repeated post, a retry and the check of a worker after
the check of a post count nothing again.

While the state Redis is away, every SMS passes: P0 and P1 pass each limit that cannot be checked,
as they pass frequency caps. The rate limit of the producer and the allow-list of countries still
apply. After a loss of the instance the counts begin at zero.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, cast
from uuid import UUID

from notifications.core import clock
from notifications.core.rules import phone
from notifications.core.store.redis import state
from notifications.features.sms_pumping.rules import ceilings
from notifications.features.sms_pumping.rules.ceilings import (
    Ceiling,
    NumberCeilings,
    Policy,
    prefix_of,
)

PREFIXES: Final = "sms:prefixes"
COUNTRIES: Final = "sms:countries"
REFUSALS: Final = "sms:refusals"
REFUSED: Final = "sms:refused"
"""Names of the hashes; `:` and the number of the interval follow."""
_RELEASED: Final = "sms:released"
"""The limits whose change has released held SMS, and the number of these releases."""
_SECOND: Final = dt.timedelta(seconds=1)
_NEW, _REPEAT = 0, 1
_REFUSED_BY: Final = {2: Ceiling.ADDRESS, 3: Ceiling.PREFIX, 4: Ceiling.COUNTRY}
_REFUSED_BY[5] = Ceiling.PRODUCER_COUNTRY
_DIGEST_BYTES: Final = 16
_AT_ONCE: Final = 250
"""SMS of a call: the other clients of Redis wait for the script."""
_WINDOW: Final = ceilings.ADDRESS_WINDOW // _SECOND
_PREFIX_SECONDS: Final = ceilings.PREFIX_INTERVAL // _SECOND
_COUNTRY_SECONDS: Final = ceilings.COUNTRY_INTERVAL // _SECOND


class SmsRequest(NamedTuple):
    """A request to count an SMS."""

    member: bytes
    number: str
    """The stored number, in its first spelling (`rules.phone`)."""
    country: str
    producer_id: int
    ceilings: NumberCeilings

    @property
    def key(self) -> str:
        """The Redis key of the address, without the number itself."""
        digest = hashlib.blake2b(self.number.encode(), digest_size=_DIGEST_BYTES)
        return f"sms:address:{digest.hexdigest()}"

    @property
    def prefix(self) -> str:
        """The prefix of the number."""
        return prefix_of(self.number.removeprefix("+"))


class SmsAnswer(NamedTuple):
    """The answer to a request."""

    refused_by: Ceiling | None
    """None: the SMS may leave."""
    wait: dt.timedelta
    """Time until the ceiling has room; zero if the SMS may leave."""
    is_new: bool
    """True if the SMS was counted now."""


class Refusals(NamedTuple):
    """The refused requests of an interval with the same cause."""

    ceiling: Ceiling
    prefix: str
    """Empty for a ceiling of a country."""
    country: str
    producer_id: int
    refused: int


def request_of(
    policy: Policy,
    number: str,
    *,
    producer_id: int,
    idempotency_key: str,
    notification_id: UUID,
    is_fallback: bool = False,
) -> SmsRequest | None:
    """Return the request to count an SMS; None: no ceiling applies to the number.

    The member is the same for each repeat with an idempotency key (empty: none). `is_fallback`: the
    SMS follows another channel, see `Policy.of`.
    """
    country = phone.country_or_unknown(number)
    limits = policy.of(
        number,
        country=country,
        producer_id=producer_id,
        now=clock.now(),
        is_fallback=is_fallback,
    )
    if limits is None:
        return None
    member = _member_of(producer_id, idempotency_key, notification_id)
    number = phone.one_spelling(number)  # both spellings share the ceiling of the address
    return SmsRequest(member, number, country, producer_id, limits)


def _member_of(producer_id: int, idempotency_key: str, notification_id: UUID) -> bytes:
    if not idempotency_key:
        return notification_id.bytes
    text = f"{producer_id}:{idempotency_key}".encode()
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest()


def count(requests: Sequence[SmsRequest], *, refuses: bool = True) -> list[SmsAnswer]:
    """Count the SMS below the ceilings, in order, in a call per 250 SMS.

    Args:
        requests: the SMS.
        refuses: False counts the SMS above a ceiling as well, and records the refusal.

    Raises:
        state.Away: Redis did not answer; the SMS pass.
    """
    return [
        answer
        for at in range(0, len(requests), _AT_ONCE)
        for answer in _count(requests[at : at + _AT_ONCE], refuses=refuses)
    ]


def _count(requests: Sequence[SmsRequest], *, refuses: bool) -> list[SmsAnswer]:
    arguments: list[str | int | float | bytes] = [int(refuses), _WINDOW]
    arguments += [_PREFIX_SECONDS, _COUNTRY_SECONDS]
    for each in requests:
        arguments += [each.member, each.prefix, each.country, each.producer_id]
        arguments += [
            each.ceilings.address,
            *each.ceilings.prefix,
            *each.ceilings.country,
            *each.ceilings.producer_country,
        ]
    keys = [PREFIXES, COUNTRIES, REFUSALS, REFUSED, *(each.key for each in requests)]
    answers = cast("list[tuple[int, int]]", state.call("sms_count", keys, arguments))
    return [
        SmsAnswer(_REFUSED_BY.get(result), wait * _SECOND, result == _NEW)
        for result, wait in answers
    ]


def uncount(requests: Sequence[SmsRequest]) -> None:
    """Remove SMS from the counts, because the rows were not stored; without Redis, do nothing."""
    if not requests:
        return
    arguments: list[str | int | float | bytes] = [_PREFIX_SECONDS, _COUNTRY_SECONDS]
    for each in requests:
        arguments += [each.member, each.prefix, each.country, each.producer_id]
    keys = [PREFIXES, COUNTRIES, *(each.key for each in requests)]
    try:
        state.call("sms_uncount", keys, arguments)
    except state.Away:
        return


def releases(policy: Policy, *, now: dt.datetime) -> int:
    """Return how often held SMS were released since the last change of the limits.

    After a loss of the instance the number is zero, and held SMS are released once more.

    Raises:
        state.Away: Redis did not answer.
    """
    with state.connection() as redis:
        stored = cast("dict[bytes, bytes]", redis.hgetall(_RELEASED))
    same = stored.get(b"limits", b"").decode() == _limits_of(policy, now)
    return int(stored.get(b"times", 0)) if same else 0


def note_releases(policy: Policy, times: int, *, now: dt.datetime) -> None:
    """Store the number for `releases`.

    Raises:
        state.Away: Redis did not answer.
    """
    with state.connection() as redis:
        redis.hset(_RELEASED, mapping={"limits": _limits_of(policy, now), "times": times})


def _limits_of(policy: Policy, now: dt.datetime) -> str:
    """Return a digest of the limits that operators edit; an override that has ended is left out."""
    lasting = [each for each in policy.overrides if each.is_on(now)]
    text = repr((policy.limits, lasting)).encode()
    return hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest()


def counts_of(name: str, intervals: Iterable[int]) -> list[dict[str, int]]:
    """Return the counts of each interval of `PREFIXES`, `COUNTRIES` or `REFUSALS` by field.

    Raises:
        state.Away: Redis did not answer.
    """
    with state.connection() as redis, redis.pipeline(transaction=False) as together:
        for number in intervals:
            together.hgetall(f"{name}:{number}")
        found: list[dict[bytes, bytes]] = together.execute()
    return [{field.decode(): int(value) for field, value in each.items()} for each in found]


def refusals(intervals: Iterable[int]) -> list[Refusals]:
    """Return the refusals of intervals of prefixes, the same cause once.

    Raises:
        state.Away: Redis did not answer.
    """
    sums: dict[str, int] = {}
    for counts in counts_of(REFUSALS, intervals):
        for field, number in counts.items():
            sums[field] = sums.get(field, 0) + number
    return [_refusals(field, number) for field, number in sums.items()]


def _refusals(field: str, number: int) -> Refusals:
    result, prefix, country, producer_id = field.split("|")
    return Refusals(_REFUSED_BY[int(result)], prefix, country, int(producer_id), number)
