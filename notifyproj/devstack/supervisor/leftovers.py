"""Processes that an earlier supervisor of the same folder left running, because it was killed.

Most end with their supervisor (see `child`). What does not: the child of a web server whose main
process was killed in the same moment, and everything on a kernel other than Linux. A leftover holds
a port, or works on the data of the next run, so it is killed before that run starts.
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
    """The environment of a process of ours, with the marks by which a leftover is known."""
    return {**environ, _VAR: str(var), _SUPERVISOR: str(os.getpid())}


def kill_leftovers(var: Path) -> None:
    """Kill the processes of this folder whose supervisor is gone; those of a living one stay.

    Raises:
        ProcessFailed: one of them does not end.
    """
    found = [process for process in psutil.process_iter() if _is_leftover(process, var=var)]
    for process in found:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue  # it ended by itself
    _, alive = psutil.wait_procs(found, timeout=_KILL_SECONDS)
    if alive:
        raise ProcessFailed(f"Process {alive[0].pid} of an earlier run does not end: stop it.")


def _is_leftover(process: psutil.Process, *, var: Path) -> bool:
    try:
        environ = process.environ()
        if environ.get(_VAR) != str(var) or _SUPERVISOR not in environ:
            return False
        # Each program leads a session of its own, and its supervisor is the leader's parent.
        leader = os.getsid(process.pid)
    except (psutil.Error, ProcessLookupError, PermissionError):
        return False  # it is gone, or it is another user's
    try:
        return psutil.Process(leader).ppid() != int(environ[_SUPERVISOR])
    except psutil.NoSuchProcess:
        return True
