"""The error of the embedded servers: a single class, because callers only show the message."""

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
    """An embedded server cannot run; the message is a line with the fault and the correction."""


def plain_words(error: OSError, *, path: Path) -> str:
    """Return an OSError as a line; `path` replaces a missing file name."""
    where = error.filename or path
    cure = _CURES.get(error.errno or 0)
    return cure.format(path=where) if cure else f"{where}: {error.strerror or error}."
