"""`python -m notifyproj.devstack.supervisor`: the demo (see `demo`)."""

from __future__ import annotations

import argparse
import sys

from notifyproj.devstack.supervisor import handle
from notifyproj.devstack.supervisor.demo import VAR, run
from notifyproj.devstack.supervisor.programs import Ports


def main() -> int:
    """Read the command line, run the demo and return the exit code."""
    standard = Ports()
    parser = argparse.ArgumentParser(prog="make demo", description="Run the whole product here.")
    parser.add_argument("--exit", action="store_true", help="end after the stories")
    parser.add_argument("--stop", action="store_true", help="stop the demo that runs here")
    parser.add_argument("--no-stories", action="store_true", help="hand in no message")
    parser.add_argument("--web-port", type=int, default=standard.web)
    parser.add_argument("--live-port", type=int, default=standard.live)
    parser.add_argument("--flower-port", type=int, default=standard.flower)
    parser.add_argument("--sandbox-port", type=int, default=standard.sandbox)
    chosen = parser.parse_args()
    if chosen.stop:
        print(handle.stop(var=VAR))
        return 0
    ports = Ports(
        web=chosen.web_port,
        live=chosen.live_port,
        flower=chosen.flower_port,
        sandbox=chosen.sandbox_port,
    )
    return run(ports, stay=not chosen.exit, stories=not chosen.no_stories)


if __name__ == "__main__":
    sys.exit(main())
