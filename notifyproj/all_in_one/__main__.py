"""`python -m notifyproj.all_in_one --wrong FILE`: runs the processes until SIGTERM.

`--host` is the address of the pages, `--web-port`, `--live-port` and `--flower-port` are their
ports, and FILE says what is wrong (`supervisor`).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from notifications.core import supervised
from notifyproj import environment
from notifyproj.all_in_one.output import Output
from notifyproj.all_in_one.programs import PagePorts, table
from notifyproj.all_in_one.supervisor import Supervisor
from notifyproj.processes import app


def main() -> int:
    """Read the command line, load the app and run the processes."""
    # Until the processes start there is nothing to stop. The first process of a container gets no
    # signal without a handler.
    signal.signal(signal.SIGTERM, lambda _number, _frame: os._exit(0))
    ports = PagePorts()
    parser = argparse.ArgumentParser(prog="python -m notifyproj.all_in_one", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--web-port", type=int, default=ports.web)
    parser.add_argument("--live-port", type=int, default=ports.live)
    parser.add_argument("--flower-port", type=int, default=ports.flower)
    parser.add_argument("--wrong", type=Path, required=True)
    chosen = parser.parse_args()
    if not app.CAN_FORK:
        parser.exit(1, "Only Linux can run the processes as forks of one process.\n")
    try:
        loaded = environment.load(os.environ)
    except environment.InvalidEnvironment as error:
        parser.exit(1, f"{error}\n")
    app.load(dict(os.environ))
    # With the password in CELERY_BROKER_URL, which Celery reads there.
    environ = {**os.environ, supervised.FILE: str(chosen.wrong)}
    programs = table(
        PagePorts(web=chosen.web_port, live=chosen.live_port, flower=chosen.flower_port),
        host=chosen.host,
        has_streams=loaded.live_url is not None,
    )
    output = Output((each.name for each in programs), to=sys.stdout.fileno())
    Supervisor(programs, output=output, environ=environ, wrong=chosen.wrong).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
