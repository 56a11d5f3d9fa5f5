"""Wherever the web process is started, it is started with its limits, and has room for them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import yaml

from notifyproj.web import THREADS

_ROOT: Final = Path(__file__).resolve().parents[2]
_BESIDE: Final = 64
"""Threads of a web process that answer no request."""
_SERVICES: Final[dict[str, dict[str, Any]]] = yaml.safe_load(
    (_ROOT / "docker-compose.yml").read_text()
)["services"]


def test_no_file_starts_the_server_past_its_limits() -> None:
    files = ("*.yml", "*.yaml", "Dockerfile", "Makefile", "*.sh", ".ci/*")
    found = subprocess.run(
        ["/usr/bin/env", "git", "grep", "--untracked", "-lw", "granian", "--", *files],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout == "", "start it with python -m notifyproj.web"
    assert "notifyproj.web" in _SERVICES["web"]["command"]


def test_the_web_container_may_start_the_threads_of_its_processes() -> None:
    web = _SERVICES["web"]
    [workers] = [part for part in web["command"] if part.startswith("--workers=")]
    needed = int(workers.partition("=")[2]) * (THREADS + _BESIDE)
    assert int(web.get("pids_limit", needed)) >= needed


def test_the_clients_of_a_proxy_have_addresses_of_their_own() -> None:
    if "proxy" in _SERVICES:
        assert _SERVICES["web"]["environment"]["NOTIFY_TRUSTED_PROXIES"]
