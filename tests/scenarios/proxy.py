"""nginx with the configuration that compose gives it, on ports of a test."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port, is_free
from tests.certificate import make_certificate
from tests.clock import ROOT

PROGRAM: Final = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
_TEMPLATE: Final = ROOT / "docs" / "compose" / "proxy.conf.template"
_START_SECONDS: Final = 10.0


def rendered(values: Mapping[str, str]) -> str:
    """Return the configuration with the values of NOTIFY_PROXY_..., as the image's start does."""
    return re.sub(
        r"\$\{NOTIFY_PROXY_(\w+)\}", lambda found: values[found[1]], _TEMPLATE.read_text()
    )


class Proxy(Child):
    """The reverse proxy in front of a web process."""

    stop_signal = signal.SIGTERM

    def __init__(
        self, folder: Path, *, web: str, flower: str, connections: int, live: str = LOOPBACK
    ) -> None:
        super().__init__("proxy", log=folder / "proxy.log")
        self._folder = folder
        self.http, self.https, flower_port = (free_port(f"{folder}/{name}") for name in "abc")
        make_certificate(folder / "fullchain.pem")
        shutil.copyfile(folder / "fullchain.pem", folder / "privkey.pem")
        self.values = {
            "HTTP_PORT": f"{LOOPBACK}:{self.http}",
            "HTTPS_PORT": f"{LOOPBACK}:{self.https}",
            "FLOWER_PORT": f"{LOOPBACK}:{flower_port}",
            "WEB": web,
            "LIVE": live,
            "FLOWER": flower,
            "RESOLVER": LOOPBACK,  # addresses are not asked for
            "TLS": str(folder),
            "FILES": str(folder),
            "CONNECTIONS": str(connections),
        }

    def start(self) -> None:
        """Start it and wait until it listens; it fails the test when nginx does not start."""
        text = rendered(self.values)
        # The log is a file of ours: /dev/stdout of a child cannot be opened again by another user.
        text = text.replace("/dev/stdout", str(self._folder / "access.log"))
        configuration = self._folder / "proxy.conf"
        configuration.write_text(text.replace("/dev/stderr", "stderr"))
        if PROGRAM is None:
            raise FileNotFoundError("nginx")
        command = [PROGRAM, "-e", "stderr", "-p", str(self._folder), "-c", str(configuration)]
        # As root, its workers would give up the right to walk to this folder.
        directives = "daemon off;" if os.geteuid() else "daemon off; user root;"
        self.spawn([*command, "-g", directives], folder=self._folder, environ={})
        deadline = time.monotonic() + _START_SECONDS
        while is_free(self.https):
            if self.wait_for_end(0.05) or time.monotonic() > deadline:
                raise AssertionError(f"nginx did not start: {self.last_log_line()}")
