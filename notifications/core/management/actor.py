"""The actor of a command, for the audit log."""

from __future__ import annotations

import getpass
import os


def actor(command: str) -> str:
    """Return the command with the user of the process: `connect (maria)`.

    A user without a name is named by the id.
    """
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # OSError since Python 3.13
        name = f"user id {os.getuid()}"
    return f"{command} ({name})"
