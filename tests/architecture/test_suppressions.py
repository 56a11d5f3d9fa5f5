"""Whoever silences a tool says why, on the same line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_SILENCED = "# (noqa|type: ignore)"
_WITH_REASON = re.compile(r"# (noqa: [A-Z0-9, ]+ - |type: ignore\[[a-z, -]+\] +# )(?!the same)\S")


def test_every_suppression_carries_its_reason() -> None:
    found = subprocess.run(
        ["/usr/bin/env", "git", "grep", "--untracked", "-nE", _SILENCED, "--", "*.py"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in found.stdout.splitlines() if "/migrations/" not in line]
    assert lines
    assert [line for line in lines if not _WITH_REASON.search(line)] == []
