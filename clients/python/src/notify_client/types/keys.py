"""Keys: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from notify_client.types.shared import (
    Mode,
    Priority,
)


class KeyRotated(TypedDict):
    """The new key. It is shown once, and again to a repeat with the same Idempotency-Key."""

    key: str
    prefix: str
    scopes: list[str]
    expires_at: str | None
    old_key_expires_at: str | None


class MeAnswer(TypedDict):
    """The key that the request came with."""

    producer: str
    mode: Mode
    key_prefix: str
    """The visible part of the key."""

    scopes: list[str]
    expires_at: str | None
    """null: the key does not expire."""

    priorities: list[Priority]
    """Those that the producer may use."""

    may_send_content: bool
    """Whether the producer may send raw text instead of a template."""

    rate: RateAnswer
    schedules: SchedulesLimit


class RateAnswer(TypedDict):
    """The producer's rate limit, over all its keys of this mode."""

    per_second: int
    """Writes a second; a notification is one."""

    burst: int
    """Writes at once after a pause."""

    remaining: int
    """How many are left now."""

    full_in_s: float
    """Seconds until the burst is whole again."""


class RotateRequest(TypedDict):
    """How long both keys work."""

    overlap_hours: NotRequired[int]
    """Hours that the old key works on. Default: `24`."""


class SchedulesLimit(TypedDict):
    """How many schedules the producer may have in this mode."""

    limit: int
    used: int
