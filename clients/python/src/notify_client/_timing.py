"""Clocks, chance and waiting: a program that uses this package has none of the service's own."""

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


def jittered(seconds: float) -> float:
    """Between half of it and all of it, so that clients that failed together come back apart."""
    return seconds * random.uniform(0.5, 1.0)  # noqa: S311 - it protects no secret
