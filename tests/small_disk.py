"""A disk that is full: a small file system in memory, and a file that takes what is left of it.

Only root may mount, so the tests that use this module are skipped for other users.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from notifyproj.devstack.servers.server import Server

needs_root: Final = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a disk")
_BALLAST: Final = "ballast"
_BLOCK: Final = bytes(64 * 1024)


@contextmanager
def mounted(folder: Path, *, mebibytes: int) -> Iterator[None]:
    """Mount a disk of this size on an empty folder."""
    options = f"size={mebibytes}m,mode=0700"
    _run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    try:
        yield
    finally:
        _run("umount", "--lazy", str(folder))


@contextmanager
def under(server: Server, *, mebibytes: int) -> Iterator[None]:
    """Run a server whose data are on a disk of their own; the data survive the disk."""
    server.stop()
    kept = server.data.with_suffix(".kept")
    server.data.rename(kept)
    server.data.mkdir()
    try:
        with mounted(server.data, mebibytes=mebibytes):
            _run("cp", "-a", f"{kept}/.", str(server.data))
            server.start()
            try:
                yield
            finally:
                make_room(server.data)
                server.stop()
                _run("rm", "-rf", str(kept))
                _run("cp", "-a", str(server.data), str(kept))
    finally:
        server.data.rmdir()
        kept.rename(server.data)
        server.start()


def fill(folder: Path) -> None:
    """Write a file until the disk of the folder has no room."""
    with (folder / _BALLAST).open("ab", buffering=0) as ballast:
        try:
            while ballast.write(_BLOCK):
                pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def make_room(folder: Path) -> None:
    """Delete what `fill` has written."""
    (folder / _BALLAST).unlink(missing_ok=True)


def _run(*command: str) -> None:
    subprocess.run(["/usr/bin/env", *command], check=True, capture_output=True)
