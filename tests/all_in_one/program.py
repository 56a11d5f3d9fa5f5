"""A program for test_supervisor, which does what its argument says."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Tell its process id, then end, wait for a signal, or ignore it."""
    sys.stdout.write(f'{{"event":"runs","pid":{os.getpid()}}}\n')
    if sys.argv[1] == "ends":
        sys.exit(3)
    if sys.argv[1] == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
