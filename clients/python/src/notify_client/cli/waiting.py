"""Waits for the service: said after two seconds, and ended with what to do."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from notify_client.cli.faults import Fault
from notify_client.errors import NoAnswer

QUIET_SECONDS = 2.0
TOTAL_SECONDS = 20.0
"""A call with all its attempts: a person waits, and can run the command again."""


@contextmanager
def told(url: str, *, takes_key: bool = False) -> Iterator[None]:
    """Say that the command waits for a URL, and raise what to do if no answer comes.

    Args:
        url: the URL of the service.
        takes_key: the command has the option `--idempotency-key`.

    Raises:
        Fault: the service gave no answer to the last attempt.
    """
    timer = threading.Timer(QUIET_SECONDS, _say, [url])
    timer.daemon = True
    timer.start()
    try:
        yield
    except NoAnswer as error:
        key = error.idempotency_key if takes_key else None
        again = f" with --idempotency-key {key}, because the message may be accepted" if key else ""
        raise Fault(
            f"{url} gave no answer ({error.reason}, {error.attempts} attempts). Check the URL, the"
            f" network and {url.rstrip('/')}/healthz, and run the command again{again}"
        ) from error
    finally:
        timer.cancel()


def _say(url: str) -> None:
    limit = f"at most {TOTAL_SECONDS:g} s for each call"
    print(f"notify: waiting for an answer of {url}, {limit}", file=sys.stderr, flush=True)
