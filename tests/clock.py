"""The clock of a test run: the machine's, or another (`make test CLOCK='2026-03-08 06:58'`).

A run with another clock has data of its own, made anew each time: rows that the machine's clock
dated would lie in its future or far in its past.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from notifications.core import clock
from notifyproj.devstack.servers import Stack
from tests.brokers import BROKER

ROOT: Final = Path(__file__).resolve().parents[1]


def moved(seconds: int, *, folder: Path) -> dict[str, str]:
    """The variables of a process whose wall clock is to be so far from the machine's.

    Args:
        seconds: positive where its clock is fast.
        folder: where the library is made; who runs the process must be able to read it.

    Raises:
        FileNotFoundError: there is no C compiler.
    """
    library = folder / "clock.so"
    if not library.exists():
        fresh = library.with_suffix(".new")
        command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(fresh)]
        subprocess.run([*command, str(ROOT / ".ci" / "clock.c"), "-ldl"], check=True)
        fresh.replace(library)
    return {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(seconds)}


def offset() -> float:
    """Seconds of the wall clock beyond a clock that cannot be set; changes if the former is set."""
    return clock.host().timestamp() - clock.steady()


def stack(
    purpose: str,
    *,
    environ: Mapping[str, str] = os.environ,
    postgres_settings: Mapping[str, str] | None = None,
) -> Stack:
    """The servers of `purpose` for this process, not started; with its clock and broker."""
    is_moved = "CLOCK_OFFSET" in os.environ
    process = os.environ.get("PYTEST_XDIST_WORKER")
    return Stack(
        "-".join(filter(None, [purpose, process, "clock" if is_moved else None])),
        root=ROOT,
        environ=environ,
        broker=BROKER,
        postgres_settings=postgres_settings,
        fresh=is_moved,
    )
