"""The clock of a test run: the machine's, or another (`make test CLOCK='2026-03-08 06:58'`).

A run with another clock has data of its own, made anew each time: rows that the machine's clock
dated would lie in its future or far in its past.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from notifyproj.embedded import Stack

ROOT: Final = Path(__file__).resolve().parents[1]


def stack(
    purpose: str,
    *,
    environ: Mapping[str, str] = os.environ,
    postgres_settings: Mapping[str, str] | None = None,
) -> Stack:
    """The servers of `purpose` in this checkout, not started; they have the clock of this run."""
    is_moved = "CLOCK_OFFSET" in os.environ
    return Stack(
        f"{purpose}-clock" if is_moved else purpose,
        root=ROOT,
        environ=environ,
        postgres_settings=postgres_settings,
        fresh=is_moved,
    )
