"""The processes as `make demo` has them: `python -m tests.benchmarks.together FOLDER PORT ...`.

The folder is for logs and process ids. The ports are those of `Ports`, in their order. Prints a
line when each process is ready, and runs until the end of its input.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path

from notifyproj.devstack.supervisor import demo
from notifyproj.devstack.supervisor.programs import Answers, Ports


def main() -> None:
    """Start, wait, stop."""
    ports = Ports(**dict(zip(asdict(Ports()), map(int, sys.argv[2:]), strict=True)))
    crew = demo.crew_of(
        dict(os.environ), ports=ports, var=Path(sys.argv[1]), report=lambda _line: None
    )
    try:
        crew.start()
        next(each for each in crew.processes if each.name == "web").wait_ready(
            sign=Answers("web", "/readyz")
        )
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        crew.stop()


if __name__ == "__main__":
    main()
