"""The stop flag of a worker process, set on SIGTERM.

After SIGTERM no task begins, and a running task begins no further wave of provider calls: the task
returns the rest of its claim to the queue for another worker, without counting an attempt.
"""

from __future__ import annotations

from typing import Final


class _Flag:
    """A plain attribute: a signal handler could deadlock on a lock."""

    is_set = False


_flag: Final = _Flag()


def begin() -> None:
    """Set the stop flag, permanently."""
    _flag.is_set = True


def is_stopping() -> bool:
    """Return True if no further provider call may begin."""
    return _flag.is_set
