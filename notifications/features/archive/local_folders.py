"""Local folders for files that are written or verified, and their removal after a kill.

A process holds a lock on the file `lock` of its folder. The system releases the lock with the
process, so a folder whose lock is free is one that a killed process has left. A process that is
killed before it has the lock leaves a folder without files.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PREFIX: Final = "archive-files-"
_LOCK: Final = "lock"


@contextmanager
def local_folder() -> Iterator[Path]:
    """Give an empty folder below `TMPDIR`, which is deleted afterwards.

    Raises:
        OSError: the folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder, unnamed = Path(name) / "files", Path(name) / "unnamed"
        with unnamed.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            unnamed.rename(Path(name) / _LOCK)  # `delete_left` never sees the file without the lock
            folder.mkdir()
            yield folder


def delete_left() -> None:
    """Delete the folders of killed processes of this user on this host."""
    for each in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        if _is_left(each):
            shutil.rmtree(each.parent, ignore_errors=True)


def _is_left(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.fstat(file.fileno()).st_uid == os.geteuid()
    except OSError:  # held by a process, of another user, or deleted meanwhile
        return False
