"""Idempotency keys that are surely new: a Bloom filter a day in the state Redis.

A batch whose keys are all surely new needs no exact check before it is written. The filter may be
wrong in one direction only ("perhaps seen"), and a wiped one is caught by the unique index: it
saves work and decides nothing.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import struct
from collections.abc import Sequence
from typing import Final, cast

from notifications.store import state

_BITS: Final = 2**27
"""16 MB a day: 14 million keys at one false alarm in a hundred."""
_PER_KEY: Final = 7
"""Bits a key: the best number for ten bits of filter a key."""
_KEEP: Final = 2 * 24 * 3600
"""Seconds: a key lives 24 hours, so today's and yesterday's filter know it."""


def all_surely_new(scope: str, keys: Sequence[str], *, today: dt.date) -> bool:
    """Whether none of the keys can have been seen; adds them.

    False when the state Redis is away.
    """
    positions = struct.pack(
        f"<{len(keys) * _PER_KEY}I",
        *(position for key in keys for position in _positions(f"{scope}:{key}")),
    )
    names = [f"bloom:{day:%Y%m%d}" for day in (today, today - dt.timedelta(days=1))]
    try:
        answers = cast("list[int]", state.call("bloom", names, [_KEEP, _PER_KEY, positions]))
    except state.Away:
        return False
    return all(answers)


def _positions(key: str) -> list[int]:
    """Double hashing (Kirsch and Mitzenmacher): two halves of one digest make all the positions."""
    digest = hashlib.blake2b(key.encode(), digest_size=16).digest()
    first, second = int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big") | 1
    return [(first + turn * second) % _BITS for turn in range(_PER_KEY)]
