"""Paths of the repository's files, for the tests that read all of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CODE: Final = ("notifications", "notifyproj", "providers", "tests")


def files(*patterns: str) -> list[str]:
    """Return the paths below ROOT of the existing files that git tracks or would track.

    Args:
        patterns: path patterns of git, such as `tests` or `*.py`; none: every file.
    """
    listed = subprocess.run(
        [
            "/usr/bin/env",
            *["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            *patterns,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def python_files(*patterns: str) -> list[str]:
    """Return the Python files among `files`."""
    return [path for path in files(*patterns) if path.endswith(".py")]
