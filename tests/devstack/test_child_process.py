"""Signals to a child process."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import psutil
import pytest

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.supervisor.process import ROOT

_THREADS = 40
_BUSY = (
    "import hashlib, threading\n"
    "def work():\n"
    "    while True: hashlib.pbkdf2_hmac('sha256', b'', b'', 10_000)\n"
    f"for _ in range({_THREADS}): threading.Thread(target=work).start()\n"
    "print('busy', flush=True)\n"
)


def _states(pid: int) -> set[str]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {(each / "stat").read_text().rpartition(")")[2].split()[0] for each in tasks}


@pytest.mark.skipif(not psutil.LINUX, reason="reads /proc")
def test_a_frozen_process_has_no_running_thread_when_the_signal_returns(tmp_path: Path) -> None:
    child = Child("busy", log=tmp_path / "log")
    child.spawn([sys.executable, "-c", _BUSY], folder=ROOT, environ={})
    try:
        until(lambda: "busy" in child.log.read_text(), what="the threads work")
        pid = child.pid
        assert pid is not None
        for _ in range(20):
            child.signal(signal.SIGSTOP)
            assert _states(pid) == {"T"}
            child.signal(signal.SIGCONT)
            until(lambda: _states(pid) != {"T"}, what="the threads go on")
    finally:
        child.kill()
    with pytest.raises(ProcessLookupError):
        child.signal(signal.SIGSTOP)
