"""Stop and environment of a running demo, for a second terminal.

While the demo runs, `var/demo.env` has the variables of the demo's processes, readable by the
file's owner alone. `make shell` opens a shell with the variables. The demo removes the file at the
end.
"""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

from notifyproj.service_urls import PASSWORDS

_PREFIXES: Final = ("NOTIFY_", "DEMO_")
_STOP_SECONDS: Final = 90.0
"""Longest stop: workers finish the calls in flight, then the servers write to the disk."""


def env_file(var: Path) -> Path:
    """Return the path of the file with the variables."""
    return var / "demo.env"


def show(settings: Mapping[str, str], *, var: Path) -> None:
    """Write the variables and this process's id as lines for `sh`; raises OSError."""
    path = env_file(var)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    lines = [
        f"export {name}={shlex.quote(value)}"
        for name, value in sorted(settings.items())
        if name in PASSWORDS or name.startswith(_PREFIXES)
    ]
    path.write_text("\n".join([*lines, f"export DEMO_SUPERVISOR_PID={os.getpid()}", ""]))


def hide(*, var: Path) -> None:
    """Remove the file with the variables, because the named servers are down."""
    env_file(var).unlink(missing_ok=True)


def stop(*, var: Path) -> str:
    """Stop the running demo, wait for the end, and return the result as a sentence."""
    process = _running(var)
    if process is None:
        return "No demo runs here."
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except psutil.TimeoutExpired:
        return f"The demo (process {process.pid}) is still stopping: see its terminal."
    return "The demo has stopped."


def _running(var: Path) -> psutil.Process | None:
    try:
        last = env_file(var).read_text().splitlines()[-1]
        process = psutil.Process(int(last.rpartition("=")[2]))
        # After a kill of the demo another program may have the same process id.
        is_demo = "notifyproj.devstack.supervisor" in process.cmdline() and process.cwd() == str(
            var.parent
        )
    except (FileNotFoundError, IndexError, ValueError, psutil.Error):
        return None
    return process if is_demo else None
