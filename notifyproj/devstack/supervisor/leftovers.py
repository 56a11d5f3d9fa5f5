"""Processes that an earlier, killed supervisor of the same folder left running.

Most processes end with the supervisor (see `child_process`). Exceptions are the child of a web
server whose main process was killed in the same moment, and all processes on a kernel other than
Linux. A leftover holds a port, or changes the data of the next run, so the supervisor kills
leftovers before a run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

from notifyproj.devstack.supervisor.process import ProcessFailed

_VAR: Final = "DEMO_VAR"
_SUPERVISOR: Final = "DEMO_SUPERVISOR"
_KILL_SECONDS: Final = 10.0


def mark(environ: Mapping[str, str], *, var: Path) -> dict[str, str]:
    """Return the environment of a child process, with the marks that identify a leftover."""
    return {**environ, _VAR: str(var), _SUPERVISOR: str(os.getpid())}


def kill_leftovers(var: Path) -> None:
    """Kill the processes of this folder without a living supervisor.

    Raises:
        ProcessFailed: a process does not end.
    """
    found = [process for process in psutil.process_iter() if _is_leftover(process, var=var)]
    for process in found:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue  # the process has ended
    _, alive = psutil.wait_procs(found, timeout=_KILL_SECONDS)
    if alive:
        raise ProcessFailed(f"Process {alive[0].pid} of an earlier run does not end: stop it.")


def _is_leftover(process: psutil.Process, *, var: Path) -> bool:
    try:
        environ = process.environ()
        if environ.get(_VAR) != str(var) or _SUPERVISOR not in environ:
            return False
        # Each program leads a session, and the supervisor is the leader's parent.
        leader = os.getsid(process.pid)
    except (psutil.Error, ProcessLookupError, PermissionError):
        return False  # the process has ended, or belongs to another user
    try:
        return psutil.Process(leader).ppid() != int(environ[_SUPERVISOR])
    except psutil.NoSuchProcess:
        return True
