"""A service of docker-compose.yml as a process of this machine.

The file is read as Compose does: merge keys, variables with defaults, `$$`. Names of servers become
loopback ports, and the host name of a container becomes the name of the service.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import redis
import yaml

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor.process import ROOT
from notifyproj.devstack.supervisor.programs import Ports
from tests import roles

SERVICES: Final[Mapping[str, dict[str, Any]]] = yaml.safe_load(
    (ROOT / "docker-compose.yml").read_text()
)["services"]
_VARIABLE: Final = re.compile(r"\$(?:\$|\{(\w+)(?::([-?])([^}]*))?\})")

_SPARE_PORTS: Final = 20
"""Of the metrics: other processes of this machine may have some."""


class Container(Child):
    """A service of the file as a process.

    Args:
        name: the name of the service.
        values: the variables of `.env`.
        places: text of the file -> text on this machine, such as `broker:6379`.
        var: the folder of the log and of the archive.
        folder: the folder with the code.
    """

    stop_seconds = 30.0

    def __init__(
        self,
        name: str,
        *,
        values: Mapping[str, str],
        places: Mapping[str, str],
        var: Path,
        folder: Path = ROOT,
    ) -> None:
        super().__init__(name, log=var / f"{name}.log")
        self._folder = folder
        service = SERVICES[name]
        self.metrics = f"{LOOPBACK}:{free_port(f'{var}/{name}')}"
        """Address of the metrics of a worker or beat."""
        self._values = values
        self._places = {
            **places,
            "/archive": str(var),
            "0.0.0.0:9464": self.metrics,
            "0.0.0.0": LOOPBACK,  # noqa: S104 - the address of the file, replaced here
            "@%h": f"@{name}",
        }
        own = {key: self._here(str(value)) for key, value in service["environment"].items()}
        self.environ = {
            **(values if service.get("env_file") else {}),
            **{key: value for key, value in own.items() if value},
            "HOSTNAME": name if name != "beat" else _host_name(),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        }
        parts = [*service.get("entrypoint", []), *service["command"]]
        self.command = [self._here(part) for part in parts]
        self.check = [self._here(part) for part in service["healthcheck"]["test"]]
        self.retries: int = service["healthcheck"]["retries"]

    def start(self) -> None:
        """Start the command of the service."""
        self.spawn(self.command, folder=self._folder, environ=self.environ)

    def says_ready(self) -> bool:
        """Return True if the log says that a worker consumes."""
        return self.says(" ready.")

    def has_ended(self) -> bool:
        """Return True if the process does not run."""
        return self.pid is None

    def says(self, text: str) -> bool:
        """Return True if the log has this text."""
        return text in self.log.read_text()

    def is_healthy(self) -> bool:
        """Run the health check of the service as Docker does: `retries` failures are a fault."""
        return any(self.answers_check() for _ in range(self.retries))

    def answers_check(self, **environ: str) -> bool:
        """Run the health check once, with further environment variables."""
        kind, *arguments = self.check
        command = ["/bin/sh", "-c", *arguments] if kind == "CMD-SHELL" else arguments
        done = subprocess.run(
            ["/usr/bin/env", *command],
            cwd=ROOT,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        self.told = done.stdout + done.stderr
        return done.returncode == 0

    def _here(self, text: str) -> str:
        """Return a text of the file with its variables and with the places of this machine."""
        text = _VARIABLE.sub(self._value, text)
        for place, here in self._places.items():
            text = text.replace(place, here)
        return text

    def _value(self, found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        if name is None:
            return "$"
        value = self._values.get(name, "")
        if not value and kind == "?":
            raise KeyError(f"{name}: {rest}")
        return value or (rest or "" if kind == "-" else "")


def _host_name() -> str:
    """Return the host name, which is also the node name of beat."""
    return subprocess.run(
        ["/usr/bin/env", "hostname"], capture_output=True, text=True, check=True
    ).stdout.strip()


def places(stack: Stack, ports: Ports) -> dict[str, str]:
    """Return texts of the file and what they are on this machine."""
    return {
        "postgres:5432": f"{LOOPBACK}:{stack.postgres.port}",
        "state:6379": f"{LOOPBACK}:{stack.state.port}",
        "broker:6379": f"{LOOPBACK}:{stack.broker.port}",
        **{f"{host}:8000": f"{LOOPBACK}:{ports.web}" for host in ("web", LOOPBACK)},
        f"{LOOPBACK}:8001": f"{LOOPBACK}:{ports.live}",
        f"{LOOPBACK}:5555": f"{LOOPBACK}:{ports.flower}",
        "--port=8000": f"--port={ports.web}",
        "--port=8001": f"--port={ports.live}",
        "--port=5555": f"--port={ports.flower}",
    }


def env_file(environ: Mapping[str, str], *, redis_password: str) -> dict[str, str]:
    """Return the variables of `.env`: passwords, secrets and the settings of the scenarios."""
    return {
        "POSTGRES_PASSWORD": "reaches-no-process",
        "DATABASE_OWNER_PASSWORD": roles.PASSWORDS["owner"],
        "DATABASE_PASSWORD": roles.PASSWORDS["app"],
        "REDIS_PASSWORD": redis_password,
        "CELERY_BROKER_PASSWORD": redis_password,
        **{
            name: value
            for name, value in environ.items()
            if name.startswith("NOTIFY_") or name in {"LD_PRELOAD", "CLOCK_OFFSET"}
        },
    }


def all_in_one(
    stack: Stack,
    *,
    ports: Ports,
    values: Mapping[str, str],
    var: Path,
    first: Mapping[str, str] = MappingProxyType({}),
) -> Container:
    """Return the container of all processes on the servers of a stack, with ports for its pages.

    `first` has further places, which are replaced before the others.
    """
    metrics = free_port(f"{var}/metrics")
    here = {
        **first,
        "postgres:5432": f"{LOOPBACK}:{stack.postgres.port}",
        "state:6379": f"{LOOPBACK}:{stack.state.port}",
        "broker:6379": f"{LOOPBACK}:{stack.broker.port}",
        "0.0.0.0:9464-9470": f"{LOOPBACK}:{metrics}-{metrics + _SPARE_PORTS}",
        "--web-port=8000": f"--web-port={ports.web}",
        "--live-port=8001": f"--live-port={ports.live}",
        "--flower-port=5555": f"--flower-port={ports.flower}",
        "/tmp/notify.wrong": str(var / "wrong"),  # noqa: S108 - of the container
        "/flights": str(var / "flights"),
    }
    return Container("all-in-one", values=values, places=here, var=var)


@contextmanager
def passwords(stack: Stack, password: str) -> Iterator[None]:
    """Give the default user of both Valkeys a further password."""
    with ExitStack() as undo:
        for server in (stack.state, stack.valkey_broker):
            client = undo.enter_context(redis.from_url(server.url))
            client.acl_setuser("default", enabled=True, passwords=[f"+{password}"])
            undo.callback(client.acl_setuser, "default", enabled=True, passwords=[f"-{password}"])
        yield
