"""Local folders for new files and for verified copies, and removal of the folders after a kill.

A process holds a lock on the file `lock` of the folder. The kernel releases the lock with the
process, so a free lock marks the folder of a killed process. A kill before the lock leaves a folder
without files.
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
    """Make an empty folder below `TMPDIR`, and delete the folder afterwards.

    Raises:
        OSError: the folder cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder, new = Path(name) / "files", Path(name) / "new"
        with new.open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            new.rename(Path(name) / _LOCK)  # `delete_left` never sees the file without the lock
            folder.mkdir()
            yield folder


def delete_left() -> None:
    """Delete folders of killed processes; folders of other users stay."""
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
