"""The running live processes, for the admin and the alert `no_live_process`."""

from __future__ import annotations

from notifications.store.redis import live_processes, state
from notifications.store.redis.live_processes import LiveProcess


def list_processes() -> tuple[LiveProcess, ...] | None:
    """Return the live processes by name; None: the state instance does not answer."""
    try:
        return live_processes.load()
    except state.Away:
        return None
