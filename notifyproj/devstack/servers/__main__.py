"""Runs a stack in the foreground: `python -m notifyproj.devstack.servers PURPOSE`.

The program prints the stack's URLs as `export` lines for a shell. Ctrl-C or SIGTERM stops the
stack.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from notifyproj.devstack.servers import EmbeddedError, Stack

_ROOT = Path(__file__).resolve().parents[3]
_ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def main(arguments: list[str]) -> int:
    """Run a stack until a signal and return the exit code."""
    if len(arguments) != 1:
        print("usage: python -m notifyproj.devstack.servers PURPOSE", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Stack(arguments[0], root=_ROOT) as stack:
            for name, url in stack.urls().items():
                print(f"export {name}={url}", flush=True)
            signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
            signal.sigwait(_ENDS)
    except (EmbeddedError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
