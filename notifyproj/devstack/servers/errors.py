"""What can go wrong with the embedded servers: one class, for the caller can only show it."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

_CURES: Final = {
    errno.ENOSPC: "The disk is full: free some space under {path}.",
    errno.EDQUOT: "The disk quota is used up: free some space under {path}.",
    errno.EROFS: "{path} is on a read-only file system: use a checkout that can be written to.",
    errno.EACCES: "No permission to write {path}: run as the user who owns it, or remove it.",
    errno.EPERM: "No permission to change {path}: run as the user who owns it, or remove it.",
}


class EmbeddedError(Exception):
    """An embedded server cannot run. The message is one line: what is wrong and how to mend it."""


def plain_words(error: OSError, *, path: Path) -> str:
    """The operating system's refusal in one line; `path` stands in where it names none."""
    where = error.filename or path
    cure = _CURES.get(error.errno or 0)
    return cure.format(path=where) if cure else f"{where}: {error.strerror or error}."
