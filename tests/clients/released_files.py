"""Copies the files that a release carries: what git has, and nothing that a build has left."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.architecture import repository


def copy(folder: str, to: Path) -> list[str]:
    """Copy the files below `folder` of the repository, and LICENSE; return their paths in it."""
    paths = repository.files(folder)
    for path in ["LICENSE", *paths]:
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(repository.ROOT / path, to / path)
    return [path.removeprefix(f"{folder}/") for path in paths]


def is_out_of_place(path: str) -> bool:
    """Return True for a test, a secret or a leftover of a build in a package."""
    words = ("test", "secret", "credential", "node_modules", "__pycache__", ".npmrc", ".pypirc")
    names = Path(path.lower()).parts
    suffixes = {".env", ".key", ".pem", ".p8", ".p12", ".pyc", ".log"}
    return (
        any(name.startswith(word) for name in names for word in words)
        or Path(path).suffix in suffixes
        or names[-1] == ".env"
    )
