"""A supervisor for test_supervisor: `python -m tests.all_in_one.parent FILE WORD ...`.

Runs a process of `tests.all_in_one.program` for each word; FILE says what is wrong.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from notifyproj.all_in_one import supervisor
from notifyproj.all_in_one.output import Output
from notifyproj.all_in_one.programs import ForkedProgram


def main() -> None:
    """Run until SIGTERM."""
    wrong, *words = sys.argv[1:]
    supervisor._STOP_SECONDS = 2.0  # type: ignore[misc]  # a test does not wait for 45 s
    supervisor._PROBE_SECONDS = 0.1  # type: ignore[misc]  # as above
    programs = [
        ForkedProgram(name=word, arguments=("-m", "tests.all_in_one.program", word))
        for word in words
    ]
    output = Output(words, to=sys.stdout.fileno())
    supervisor.Supervisor(
        programs, output=output, environ=dict(os.environ), wrong=Path(wrong)
    ).run()


if __name__ == "__main__":
    main()
