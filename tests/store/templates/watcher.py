"""`python -m tests.store.templates.watcher NAME PATIENCE OUTPUT...`: ask for a template.

The program loads Django and forks a process for each OUTPUT, the number of an open descriptor. Each
process asks again and again, prints each change of the version's id with the machine's monotonic
time, and believes what it read for PATIENCE seconds unless it hears news.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence

import django

PAUSE_SECONDS = 0.001


def main(name: str, patience: float, outputs: Sequence[int]) -> None:
    """Start the processes, and wait for a signal."""
    from notifications.core.store.templates import template_cache  # noqa: PLC0415 - its models need Django set up

    template_cache._FRESH = patience  # type: ignore[misc]  # a constant: to tell news from the time limit
    is_child = False
    for output in outputs:
        if is_child := os.fork() == 0:
            os.dup2(output, sys.stdout.fileno())
            break
    for output in outputs:
        os.close(output)
    if is_child:
        _watch(name)
    signal.pause()


def _watch(name: str) -> None:
    from notifications.core.store.templates import template_cache  # noqa: PLC0415 - after Django is set up

    seen: int | None = None
    while True:
        found = template_cache.by_name([name]).get(name)
        known = found.id if found else 0
        if known != seen:
            seen = known
            print(known, time.monotonic(), flush=True)  # noqa: T201 - it speaks through its output
        time.sleep(PAUSE_SECONDS)  # noqa: TID251 - it stands for a busy process


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1], float(sys.argv[2]), [int(each) for each in sys.argv[3:]])
