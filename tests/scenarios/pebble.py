"""Pebble, an ACME server for tests, from Debian's package `pebble`: gives certificates to Caddy."""

from __future__ import annotations

import json
import shutil
import ssl
from pathlib import Path
from typing import Final
from urllib.request import urlopen

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from tests.certificate import make_certificate

PROGRAMS: Final = (shutil.which("pebble"), shutil.which("pebble-challtestsrv"))


class Pebble(Child):
    """The ACME server, and a DNS server with the address 127.0.0.1 for all names.

    Args:
        folder: the folder of certificate, configuration and logs.
        http: the port where a name must answer a challenge; `https` likewise.
    """

    def __init__(self, folder: Path, *, http: int, https: int) -> None:
        super().__init__("pebble", log=folder / "pebble.log")
        self._folder = folder
        self._ports = {"http": http, "https": https}
        self._names = Child("names", log=folder / "names.log")
        self._own = {
            name: free_port(f"{folder}/{name}") for name in ("acme", "roots", "dns", "dns-api")
        }
        self.certificate = folder / "pebble.pem"
        """Of the server itself: Caddy must trust it."""

    @property
    def directory(self) -> str:
        """The URL that Caddy asks for a certificate."""
        return f"https://localhost:{self._own['acme']}/dir"

    def start(self) -> None:
        """Start both servers and wait until certificates can be had."""
        make_certificate(self.certificate)
        configuration = self._folder / "pebble.json"
        configuration.write_text(json.dumps({"pebble": self._settings()}))
        program, names = map(str, PROGRAMS)
        dns = f"{LOOPBACK}:{self._own['dns']}"
        challenges = [f"-{each}=" for each in ("http01", "https01", "tlsalpn01")]
        self._names.spawn(
            [
                *(names, *challenges, f"-dns01={dns}", f"-defaultIPv4={LOOPBACK}"),
                *("-defaultIPv6=", f"-management={LOOPBACK}:{self._own['dns-api']}"),
            ],
            folder=self._folder,
            environ={},
        )
        self.spawn(
            [program, "-config", str(configuration), "-dnsserver", dns],
            folder=self._folder,
            environ={"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"},
        )
        until(self._is_ready, what="pebble answers")

    def stop(self) -> None:
        """Stop both servers."""
        super().stop()
        self._names.stop()

    def root(self) -> str:
        """Return the certificate of the authority as PEM."""
        trust = ssl.create_default_context(cafile=str(self.certificate))
        url = f"https://localhost:{self._own['roots']}/roots/0"
        with urlopen(url, context=trust, timeout=30) as answer:
            text: str = answer.read().decode()
        return text

    def _is_ready(self) -> bool:
        try:
            return bool(self.root())
        except OSError:
            return False

    def _settings(self) -> dict[str, object]:
        return {
            "listenAddress": f"{LOOPBACK}:{self._own['acme']}",
            "managementListenAddress": f"{LOOPBACK}:{self._own['roots']}",
            "certificate": str(self.certificate),
            "privateKey": str(self.certificate),
            "httpPort": self._ports["http"],
            "tlsPort": self._ports["https"],
            "ocspResponderURL": "",
            "externalAccountBindingRequired": False,
        }
