"""The stop flag of a worker process, set on SIGTERM.

After SIGTERM no task begins, and a running task begins no further wave of provider calls: the task
returns the rest of its claim to the queue for another worker, without counting an attempt.
"""

from __future__ import annotations

from typing import Final


class _Flag:
    """A plain attribute: a signal handler could deadlock on a lock."""

    since: float | None = None
    """Monotonic seconds; None: not set."""


_flag: Final = _Flag()


def begin(*, at: float) -> None:
    """Set the stop flag, permanently; `at`: monotonic seconds of SIGTERM."""
    if _flag.since is None:
        _flag.since = at


def is_stopping() -> bool:
    """Return True if no further provider call may begin."""
    return _flag.since is not None


def seconds(*, now: float) -> float:
    """Return the seconds since SIGTERM; 0 before. `now`: monotonic seconds."""
    return 0.0 if _flag.since is None else now - _flag.since
