"""The command `notify`: send, carry templates between installations, follow messages.

    arguments   the parser
    profiles    stored URLs and keys
    waiting     says that a command waits for the service, and what to do
    sending     `send`
    templates   `templates pull`, `push`, `diff`, `promote`
    following   `tail` and `listen`, on the change feed

Exit status: 0; 1 if the service refused or the check failed; 2 for wrong arguments; 130 after
Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from notify_client.cli.arguments import parser
from notify_client.cli.faults import Fault
from notify_client.errors import NotifyError

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
    except (Fault, NotifyError, OSError, ValueError) as error:
        print(f"notify: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return status
