"""A supervisor for test_forked: `python -m tests.processes.forking_parent FOLDER ARGUMENT`.

Starts `forked_program` as a fork; each line of the input restarts it. A line of the output is the
process's id and exit code of the last end.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from notifyproj.devstack.supervisor.process import Process
from notifyproj.devstack.supervisor.programs import OutputShows, Ports, Program


def main() -> None:
    """Start, and start again."""
    importlib.import_module("tests.processes.forking_parent")  # a mark that a fork has
    folder, argument = Path(sys.argv[1]), sys.argv[2]
    program = Program(
        name="forked",
        arguments=("-m", "tests.processes.forked_program", argument),
        ready=OutputShows("}"),
        low_priority=True,
    )
    environ = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", "WORD": "a" * 5_000}
    process = Process(program, ports=Ports(), environ=environ, var=folder, forks=True)
    while True:
        process.start()
        process.wait_for_end(10.0 if argument.startswith("ends") else 0.0)
        if process.pid is not None:
            process.wait_ready()
        sys.stdout.write(f"{process.pid} {process.exit_code}\n")
        sys.stdout.flush()
        if not sys.stdin.readline():
            return
        process.wait_for_end(10.0)


if __name__ == "__main__":
    main()
