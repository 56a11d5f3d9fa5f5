"""Tag and files of the last release in git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.architecture.repository import ROOT


def tag(root: Path = ROOT) -> str | None:
    """Return the newest tag of a release before the present commit; None without one."""
    only = ("--match=v[0-9]*", "--exclude=*-*")  # no release candidate
    found = _git(root, "describe", "--tags", "--abbrev=0", *only)
    return found.stdout.strip() if found.returncode == 0 else None


def why_none(root: Path = ROOT) -> str:
    """Return the reason why `tag` found none, with the command that helps."""
    if _git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        return "this clone is shallow and may lack the tag: git fetch --unshallow --tags"
    return "no release is tagged here: make one, or git fetch --tags"


def text(path: str, *, of: str, root: Path = ROOT) -> str:
    """Return the text of a file as the release `of` had it.

    Raises:
        FileNotFoundError: the release had no such file.
    """
    shown = _git(root, "show", f"{of}:{path}")
    if shown.returncode != 0:
        raise FileNotFoundError(shown.stderr)
    return shown.stdout


def files(folder: str, *, of: str, root: Path = ROOT) -> dict[str, str]:
    """Return the text of each file in a folder as the release `of` had it, by name."""
    listed = _git(root, "ls-tree", "--name-only", of, f"{folder}/").stdout.splitlines()
    return {Path(path).name: text(path, of=of, root=root) for path in listed}


def _git(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/usr/bin/env", "git", *command], cwd=root, capture_output=True, text=True, check=False
    )
