"""The lines of this process's supervisor about the processes beside it.

`notifyproj.all_in_one` names its file to the processes by the variable FILE, and replaces the file
every ten seconds. A process with an orchestrator has no such variable.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from notifications.core import clock

FILE: Final = "NOTIFYPROJ_SUPERVISOR_FILE"
_OLDEST_SECONDS: Final = 60.0


def faults() -> list[str]:
    """Return a line for each process of the supervisor that is down or does not answer."""
    name = os.environ.get(FILE)
    if not name:
        return []
    try:
        written_at = Path(name).stat().st_mtime
        lines = Path(name).read_text().splitlines()
    except FileNotFoundError:
        return ["the processes are starting or stopping"]
    if clock.host().timestamp() - written_at > _OLDEST_SECONDS:
        lines.append("the supervisor of the processes is stuck")
    return lines
