"""The sent-ledger: the outcome of each provider call, written before the database has it.

A worker that dies between a provider's answer and the commit leaves a row in `sending`; the rescue
settles the row by the ledger. The key of an entry has the attempt: the entry of an earlier call is
no evidence about a later call, and a worker that was frozen during its call does not replace the
entry of the next call.

An entry has the whole outcome and the facts that only the worker knew, so that the rescue decides
as the settle would have decided. The settle deletes the entry; an entry without a settle lives for
a day, because the sweeps, beat or Postgres may be away for hours.

A missing entry is no evidence. A ledger that was not read is no missing entry: `load` raises, and
the caller waits.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
import structlog

from notifications.core.rules.redaction import redact
from notifications.core.store.redis import state
from providers.contract import (
    Accepted,
    Misconfigured,
    NotStarted,
    Outcome,
    Rejected,
    Throttled,
    Unavailable,
)

_log = structlog.get_logger(__name__)
_KEY: Final = "sent:{:032x}:{}".format
"""Makes the key of an entry from the integer of a delivery's id and an attempt."""
_KEEP: Final = 24 * 3600
"""Seconds for which an entry waits for a settle or a rescue."""
_LONGEST_DETAIL: Final = 200
"""Characters of the detail of an outcome."""
_DEFINITE: Final[Mapping[str, type[Outcome]]] = {
    each.__name__.lower(): each
    for each in (Accepted, Throttled, Unavailable, NotStarted, Rejected, Misconfigured)
}
"""Outcomes that settle whether the message was sent; `Unanswered` leaves the question open."""
_NAMES: Final = {kind: name for name, kind in _DEFINITE.items()}
_FIELDS: Final = {
    kind: tuple((each.name, each.default) for each in dataclasses.fields(kind) if each.repr)
    for kind in _DEFINITE.values()
}
"""Fields of an outcome and their defaults, without addresses, which no `repr` shows either."""


class LedgerEntry(NamedTuple):
    """A call, the outcome, and the circumstances of the worker's decision."""

    delivery_id: UUID
    attempt: int
    provider: str
    outcome: Outcome
    has_next: bool | None = None
    """True if the round has a further provider; None: not known."""
    passed_by: bool = False
    """True if an earlier provider of the round failed for a temporary reason."""
    in_doubt: bool = False
    """True if an earlier provider of the round may have sent the message."""
    is_probe: bool = False
    """True if the call was a probe of the circuit breaker."""
    is_judged: bool = False
    """True if the circuit breaker has seen the outcome, and the outcome is its verdict."""
    is_one_of_many: bool = False
    """True if the provider refuses the same part of many messages."""
    token: UUID | None = None
    """The only claim for which the entry is evidence; None: any claim with this attempt."""


_FIRST_FACT: Final = 4
_FACTS: Final = LedgerEntry._fields[_FIRST_FACT:]
"""The circumstances."""
DEFINITE: Final = frozenset(_NAMES)
"""The kinds of outcomes that settle whether the message was sent, and that have an entry."""


def write(entries: Iterable[LedgerEntry]) -> bool:
    """Write the definite outcomes in one round trip; False if the state Redis is away."""
    return write_encoded(_values_of(entries))


def add(entries: Iterable[LedgerEntry]) -> bool:
    """Write as `write`, but keep existing entries."""
    return add_encoded(_values_of(entries))


def write_encoded(values: Mapping[str, bytes]) -> bool:
    """Write encoded entries by key; False if the state Redis is away."""
    return _set("set_many", values)


def add_encoded(values: Mapping[str, bytes]) -> bool:
    """Write encoded entries by key; an existing entry stays. False if the state Redis is away."""
    return _set("add_many", values)


def load(attempts: Mapping[UUID, int]) -> dict[UUID, LedgerEntry]:
    """Return the entries of attempts.

    Raises:
        state.Away: the state Redis did not answer: the calls may have an outcome.
    """
    found = state.get_many(keys_of(attempts.items()))
    entries = (
        _try_decode(delivery_id, attempt, value)
        for (delivery_id, attempt), value in zip(attempts.items(), found, strict=True)
        if value is not None
    )
    return {entry.delivery_id: entry for entry in entries if entry is not None}


def forget(calls: Sequence[tuple[UUID, int]]) -> None:
    """Delete the entries of settled calls, each a delivery and an attempt."""
    if calls:
        with contextlib.suppress(state.Away), state.connection() as redis:
            redis.unlink(*keys_of(calls))


def key_of(delivery_id: UUID, attempt: int) -> str:
    """Return the key of an entry."""
    return _KEY(delivery_id.int, attempt)


def keys_of(calls: Iterable[tuple[UUID, int]]) -> list[str]:
    """Return the keys of entries, each of a delivery and an attempt."""
    return [_KEY(delivery_id.int, attempt) for delivery_id, attempt in calls]


def encode(entry: LedgerEntry) -> bytes:
    """Return the value of an entry."""
    facts = {
        name: fact
        for name, fact in zip(_FACTS, entry[_FIRST_FACT:], strict=True)
        if fact != LedgerEntry._field_defaults[name]
    }
    return encode_call(entry.outcome, provider=entry.provider, facts=facts)


def encode_call(outcome: Outcome, *, provider: str, facts: Mapping[str, object]) -> bytes:
    """Return the value of the entry of a call: JSON without default values.

    Args:
        outcome: of a kind in `DEFINITE`.
        provider: name of the provider.
        facts: the circumstances of `LedgerEntry`, without those with their default.
    """
    kind = type(outcome)
    said: dict[str, Any] = {}
    for name, default in _FIELDS[kind]:
        value = getattr(outcome, name)
        if value != default:
            said[name] = value
    if "detail" in said:
        said["detail"] = redact(said["detail"])[:_LONGEST_DETAIL]
    about = {"outcome": _NAMES[kind], "provider": provider, "said": said, **facts}
    try:
        return orjson.dumps(about, default=_seconds)
    except TypeError:  # half of a surrogate pair in a provider's text
        return orjson.dumps(_clean(about), default=_seconds)


def _clean(value: Any) -> Any:  # noqa: ANN401 - a part of a JSON object
    if isinstance(value, dict):
        return {name: _clean(each) for name, each in value.items()}
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def _values_of(entries: Iterable[LedgerEntry]) -> dict[str, bytes]:
    return {
        key_of(each.delivery_id, each.attempt): encode(each)
        for each in entries
        if type(each.outcome) in DEFINITE
    }


def _set(script: str, values: Mapping[str, bytes]) -> bool:
    if not values:
        return True
    try:
        state.call(script, list(values), [_KEEP, *values.values()])
    except state.Away:
        return False
    return True


def _seconds(value: object) -> float:
    """Encode the only type of an outcome's field that JSON lacks.

    Raises:
        TypeError: the value has another type.
    """
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    raise TypeError


def _try_decode(delivery_id: UUID, attempt: int, value: bytes) -> LedgerEntry | None:
    """Read an entry; an unreadable entry is no evidence, and must not stop the rescue of others."""
    try:
        return _decode(delivery_id, attempt, value)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        _log.warning("ledger_entry_unreadable", delivery_id=str(delivery_id), attempt=attempt)
        return None


def _decode(delivery_id: UUID, attempt: int, value: bytes) -> LedgerEntry | None:
    """Read an entry; unknown fields of another release are left out.

    None: the entry has an unknown outcome, and is no evidence.
    """
    about: dict[str, Any] = orjson.loads(value)
    kind = _DEFINITE.get(about["outcome"])
    if kind is None:
        return None
    known = {name for name, _ in _FIELDS[kind]}
    said = {name: each for name, each in about["said"].items() if name in known}
    if "retry_after" in said:
        said["retry_after"] = dt.timedelta(seconds=said["retry_after"])
    token = about.get("token")
    return LedgerEntry(
        delivery_id,
        attempt,
        about["provider"],
        kind(**said),
        has_next=about.get("has_next"),
        passed_by=about.get("passed_by", False),
        in_doubt=about.get("in_doubt", False),
        is_probe=about.get("is_probe", False),
        is_judged=about.get("is_judged", False),
        is_one_of_many=about.get("is_one_of_many", False),
        token=UUID(token) if token else None,
    )
