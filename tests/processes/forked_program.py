"""A program for test_forked: tells what it is, as JSON, and does what its argument says."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
from pathlib import Path


def main() -> None:
    """Tell, then wait for a signal, end, or wait beside a child of its own."""
    facts = {
        "name": __name__,
        "arguments": sys.argv[1:],
        "leads_session": os.getsid(0) == os.getpid(),
        "word": os.environ.get("WORD"),
        "other": os.environ.get("OTHER"),
        "input": sys.stdin.read(),
        "niceness": os.nice(0),
        "command": Path("/proc/self/cmdline").read_bytes().decode().rstrip("\0"),
        "descriptors": sorted(int(each.name) for each in Path("/proc/self/fd").iterdir()),
        "is_fork": "tests.processes.forking_parent" in sys.modules,
        "child": 0,
    }
    if sys.argv[1] == "ends":
        sys.exit("no such thing")
    if sys.argv[1] == "ends_interrupted":
        os.kill(os.getpid(), signal.SIGINT)
    if sys.argv[1] == "ends_with_an_error":
        atexit.register(sys.stdout.write, "exit function\n")
        threading.Timer(0.1, sys.stdout.write, ["thread\n"]).start()
        raise RuntimeError
    if sys.argv[1] == "forks":
        facts["child"] = os.fork()
        if facts["child"] == 0:
            signal.pause()
    sys.stdout.write(f"{json.dumps(facts)}\n")
    signal.pause()


if __name__ == "__main__":
    main()
