"""Clocks, random numbers and waits."""

from __future__ import annotations

import asyncio
import random
import time

monotonic = time.monotonic
"""Seconds of a clock that is never set."""

wall = time.time
"""Seconds since 1970."""

sleep = time.sleep
"""Wait for some seconds."""

async_sleep = asyncio.sleep
"""Wait for some seconds, and let others run."""


def add_jitter(seconds: float) -> float:
    """Return a random wait from half of `seconds` to `seconds`: spreads simultaneous clients."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 - jitter needs no cryptographic randomness
