"""Whether this process has been asked to stop.

A worker sets it when it receives SIGTERM. From then on no task begins, and a task that sends in
waves begins no further wave: it puts the rest of its claim back, unspent, for another worker.
"""

from __future__ import annotations

from typing import Final


class _Flag:
    """A plain attribute: a signal handler sets it, and a lock there could wait for itself."""

    is_set = False


_flag: Final = _Flag()


def begin() -> None:
    """Note that this process is to stop. There is no way back."""
    _flag.is_set = True


def is_stopping() -> bool:
    """Whether no further call may begin in this process."""
    return _flag.is_set
