"""What a second terminal needs of a running demo: how to stop it, and its environment.

While the demo runs, `var/demo.env` has the variables of its processes, readable by their owner
alone: `make shell` opens a shell with them. The demo removes the file when it ends.
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
"""Workers answer what is in flight, then the servers write to the disk."""


def env_file(var: Path) -> Path:
    """Where the variables are."""
    return var / "demo.env"


def show(settings: Mapping[str, str], *, var: Path) -> None:
    """Write the variables, as `sh` reads them, and this process's id. Raises OSError."""
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
    """Take the variables away: the servers that they name are gone."""
    env_file(var).unlink(missing_ok=True)


def stop(*, var: Path) -> str:
    """Ask the running demo to end and wait for its end; returns what came of it, as a sentence."""
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
        # Its number may be another program's by now: the demo was killed.
        is_demo = "notifyproj.devstack.supervisor" in process.cmdline() and process.cwd() == str(
            var.parent
        )
    except (FileNotFoundError, IndexError, ValueError, psutil.Error):
        return None
    return process if is_demo else None
