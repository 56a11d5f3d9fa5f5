"""Runs Node and npm in the folder of the TypeScript client."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests import clock

ROOT: Final = clock.ROOT / "clients" / "typescript"
_QUIET: Final = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
_NO_REGISTRY: Final = frozenset({
    *("EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTCACHED"),
    *("ENOTFOUND", "ERR_SOCKET_TIMEOUT", "ETIMEDOUT"),
})


def checked(*command: str, folder: Path = ROOT, **environ: str) -> str:
    """Run a command that succeeds, in the client's folder or another; return its output."""
    done = _run(*command, folder=folder, **environ)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install_compiler(npm: str) -> None:
    """Install what the lock names, unless it is installed; skip the test without a registry."""
    lock = (ROOT / "package-lock.json").read_bytes()
    installed = ROOT / "node_modules" / "lock-that-is-installed.json"
    if installed.exists() and installed.read_bytes() == lock:
        return
    done = _run(npm, "ci", *_QUIET)
    code = re.search(r"^npm error code (\w+)", done.stderr, re.MULTILINE)
    if code is not None and code[1] in _NO_REGISTRY:
        pytest.skip(f"no registry gives the TypeScript compiler: npm ci ends with {code[1]}")
    assert done.returncode == 0, done.stderr
    installed.write_bytes(lock)


def _run(*command: str, folder: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
