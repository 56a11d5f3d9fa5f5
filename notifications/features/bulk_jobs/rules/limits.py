"""Limits of a bulk job: shares of failures, bounces and complaints that abort the job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MINIMUM: Final = 100
"""Messages from which the limits count, unless the job gives a number."""


def breach(
    limits: Mapping[str, Any],
    *,
    sent: int,
    failed: int,
    bounced: int,
    complained: int,
    test_group: int = 0,
) -> str:
    """Return a sentence about the first limit that is passed; empty: no limit is passed.

    Failures are a share of the sent and failed messages, because most failed messages were never
    sent. Bounces and complaints are a share of the sent messages. A test group smaller than
    `minimum` counts only if each message of the group failed.

    Args:
        limits: `failed`, `bounced` and `complained` as shares from 0 to 1, and `minimum`.
        sent: messages that a provider accepted.
        failed: messages that gave up.
        bounced: sent messages that bounced.
        complained: sent messages that the recipient reported as spam.
        test_group: messages of the test group; 0 without a test group.
    """
    counts = {
        "failed": (failed, sent + failed),
        "bounced": (bounced, sent),
        "complained": (complained, sent),
    }
    minimum = limits.get("minimum") or _MINIMUM
    for name, (count, whole) in counts.items():
        limit = limits.get(name)
        is_enough = whole >= minimum or 0 < test_group <= whole == count
        if limit is not None and is_enough and count > limit * whole:
            share = f"{count / whole:.1%} of {whole} messages {name}"
            return f"{share}, more than the limit of {limit:.1%}."
    return ""
