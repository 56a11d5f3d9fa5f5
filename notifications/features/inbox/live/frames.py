"""Texts of server-sent events (HTML Standard, section 9.2); does no I/O.

    event: hello           {"version", "counts", "heartbeat_seconds"}, first on each connection
    event: changes         {"version", "items", "removed", "counts"}
    event: reset           {"version", "counts"}: the client reads page 1 again
    event: goodbye         {"retry_ms", "reason"}: the client connects again after that time
    event: token_expired   {"reason"}: the client needs a new token

`hello`, `changes` and `reset` have the inbox version as `id:`, which a client sends as
Last-Event-ID.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import orjson

HEARTBEAT: Final = b": heartbeat\n\n"
_OPTIONS: Final = orjson.OPT_UTC_Z


class Goodbye(StrEnum):
    """Reason for the end of a stream by the server."""

    RESTART = "restart"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    FAILED = "failed"
    """The process cannot read this inbox because of a defect; the log has the error."""


class TokenEnd(StrEnum):
    """Reason for the end of a recipient token."""

    EXPIRED = "expired"
    REVOKED = "revoked"


def hello(version: int, counts: Mapping[str, Any], *, heartbeat_seconds: int, retry: int) -> bytes:
    """Return the first event; after a broken connection the client waits for `retry` milliseconds.

    Args:
        version: the inbox version of `counts`.
        counts: as in the API.
        heartbeat_seconds: longest time between two heartbeats.
        retry: milliseconds.
    """
    data = {"version": version, "counts": counts, "heartbeat_seconds": heartbeat_seconds}
    return b"retry: %d\n" % retry + _event("hello", data, id_=None)


def changes(
    version: int,
    *,
    items: list[dict[str, Any]],
    removed: Sequence[UUID],
    counts: Mapping[str, Any],
) -> bytes:
    """Return the event with the items changed since the previous event, in the newest state."""
    data = {"version": version, "items": items, "removed": list(removed), "counts": counts}
    return _event("changes", data, id_=version)


def reset(version: int, counts: Mapping[str, Any]) -> bytes:
    """Return the event in place of changes that are too many or too old."""
    return _event("reset", {"version": version, "counts": counts}, id_=version)


def goodbye(reason: Goodbye, *, retry: int) -> bytes:
    """Return the last event of a stream that the server ends; `retry`: milliseconds."""
    data = {"retry_ms": retry, "reason": reason.value}
    return b"retry: %d\n" % retry + _event("goodbye", data, id_=None)


def token_expired(reason: TokenEnd) -> bytes:
    """Return the last event of a stream after the end of the token."""
    return _event("token_expired", {"reason": reason.value}, id_=None)


def _event(name: str, data: Mapping[str, Any], *, id_: int | None) -> bytes:
    # JSON of orjson has no line break, so one `data:` line holds the JSON.
    line = b"" if id_ is None else b"id: %d\n" % id_
    return b"event: %s\n%sdata: %s\n\n" % (name.encode(), line, orjson.dumps(data, option=_OPTIONS))
