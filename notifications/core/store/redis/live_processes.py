"""The live processes, for operators, with figures of the last seconds.

The figures are in the state Redis, because a row in Postgres would be updated for ever. While the
state Redis is away no figures are written or read; the streams do not depend on the figures.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, dataclass
from typing import Final, cast

import orjson

from notifications.core import clock
from notifications.core.store.redis import state

EVERY: Final = dt.timedelta(seconds=5)
_GONE_AFTER: Final = EVERY * 4
_KEY: Final = "live:processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProcess:
    """Figures of a live process."""

    name: str
    """Host and process id, unique among running processes."""
    host: str
    pid: int
    started_at: dt.datetime
    seen_at: dt.datetime
    """Time of these figures."""
    connections: int
    """Open streams."""
    limit: int
    """Most streams."""
    recipients: int
    """Recipients with a stream."""
    is_stopping: bool


def write(process: LiveProcess) -> None:
    """Store the figures of a process.

    Raises:
        state.Away: the state Redis does not answer.
    """
    with state.connection() as redis:
        redis.hset(_KEY, process.name, orjson.dumps(asdict(process)))


def remove(name: str) -> None:
    """Remove a process at the end.

    Raises:
        state.Away: as `write`.
    """
    with state.connection() as redis:
        redis.hdel(_KEY, name)


def load() -> tuple[LiveProcess, ...]:
    """Return the live processes by name; removes the silent processes.

    Raises:
        state.Away: as `write`.
    """
    with state.connection() as redis:
        raw = cast("dict[bytes, bytes]", redis.hgetall(_KEY))
        found = [_parse(value) for value in raw.values()]
        oldest = clock.now() - _GONE_AFTER
        gone = [each.name for each in found if each.seen_at < oldest]
        if gone:
            redis.hdel(_KEY, *gone)
    return tuple(sorted((each for each in found if each.seen_at >= oldest), key=_name))


def _name(process: LiveProcess) -> str:
    return process.name


def _parse(value: bytes) -> LiveProcess:
    fields = orjson.loads(value)
    for name in ("started_at", "seen_at"):
        fields[name] = dt.datetime.fromisoformat(fields[name])
    return LiveProcess(**fields)
