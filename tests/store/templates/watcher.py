"""`python -m tests.store.templates.watcher NAME PATIENCE`: asks for a template, again and again.

It prints each change of the version's id with the machine's monotonic time, and believes what it
read for PATIENCE seconds unless it hears news.
"""

from __future__ import annotations

import sys
import time

import django

PAUSE_SECONDS = 0.001


def main(name: str, patience: float) -> None:
    from notifications.core.store.templates import template_cache  # noqa: PLC0415 - its models need Django set up

    template_cache._FRESH = patience  # type: ignore[misc]  # a constant: to tell news from the time limit
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
    main(sys.argv[1], float(sys.argv[2]))
