"""[small] Memory and CPU of the profile `small` of docker-compose.yml while nothing happens.

The processes of its five containers run here with the commands and variables of the file: Caddy,
the container of all processes of the product, PostgreSQL and two Valkeys. Memory is PSS: pages that
several processes share are counted once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Final

import psutil

from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.supervisor.process import ROOT
from notifyproj.devstack.supervisor.programs import Ports
from tests import roles
from tests.architecture import compose
from tests.benchmarks import costs, idle
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import VAR, Stage
from tests.scenarios.caddy import Caddy
from tests.scenarios.container import all_in_one, passwords

_STARTING_SECONDS: Final = 90.0
"""Sweeps with a minute between have run by then."""
_SECONDS: Final = 180
"""Of a measurement of CPU and commands, if the caller wants no other number."""
_MEBIBYTES: Final = 600
_PASSWORD: Final = "of-both-valkeys"
_SECRETS: Final = {
    "REDIS_PASSWORD": _PASSWORD,
    "CELERY_BROKER_PASSWORD": _PASSWORD,
    "DATABASE_PASSWORD": roles.PASSWORDS["app"],
    "NOTIFY_SECRET_KEY": "a-key-for-benchmarks-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
}
_pause: Final = Event()


@dataclass(frozen=True, slots=True)
class _Installation:
    """The containers, by name the id of the first process of each, and the URL of the broker."""

    containers: Mapping[str, int]
    broker_url: str


def measure_memory(stage: Stage) -> Figure:
    """Memory of the five containers."""
    stage.run([])
    with _installation() as running:
        _pause.wait(_STARTING_SECONDS)
        sizes = costs.memory(running.containers)
        inside = _memory_inside(running.containers["all-in-one"])
    total = sum(sizes.values())
    return Figure(
        name="small_memory",
        value=total,
        unit="MiB PSS",
        target=f"< {_MEBIBYTES}",
        met=total < _MEBIBYTES,
        notes=(_listed(sizes, "{:.0f}"), f"all-in-one: {_listed(inside, '{:.0f}')}"),
    )


def measure_commands(stage: Stage) -> Figure:
    """Commands a second that the broker gets, and CPU."""
    stage.run([])
    with _installation() as running:
        _pause.wait(_STARTING_SECONDS)
        return idle.at_rest(
            "small_idle",
            running.containers,
            broker_url=running.broker_url,
            seconds=stage.size(_SECONDS),
        )


@contextmanager
def _installation() -> Iterator[_Installation]:
    """Run the containers on servers of their own."""
    var = VAR / "small"
    shutil.rmtree(var, ignore_errors=True)
    (var / "caddy").mkdir(parents=True)
    with ExitStack() as undo:
        stack = undo.enter_context(
            Stack(
                "small",
                root=ROOT,
                environ={},
                fresh=True,
                # The defaults of PostgreSQL, as in the file.
                postgres_settings={"shared_buffers": "128MB", "max_connections": "300"},
            )
        )
        roles.make(stack.postgres.url)
        values = {**compose.example(), **_SECRETS, **preload_variables()}
        _migrate(values, urls={**stack.urls(), **roles.settings(stack.postgres.url, "owner")})
        undo.enter_context(passwords(stack, _PASSWORD))
        ports = {name: free_port(f"{var}/{name}") for name in ("web", "live", "flower")}
        product = all_in_one(stack, ports=Ports(**ports), values=values, var=var)
        here = {name: f"{LOOPBACK}:{port}" for name, port in ports.items()}
        caddy = Caddy(var / "caddy", **here, settings={"SITE_ADDRESS": "http://"})
        for each in (product, caddy):
            each.start()
            undo.callback(each.stop)
        until(product.answers_check, what="the container is healthy")
        found = {
            "all-in-one": product.pid,
            "caddy": caddy.pid,
            "postgres": stack.postgres.pid,
            "state": stack.state.pid,
            "broker": stack.broker.pid,
        }
        containers = {name: pid for name, pid in found.items() if pid is not None}
        yield _Installation(containers, stack.broker.url)


def _migrate(values: Mapping[str, str], *, urls: Mapping[str, str]) -> None:
    ours = {name: value for name, value in values.items() if name.startswith("NOTIFY_")}
    subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **ours, **urls},
        check=True,
        capture_output=True,
    )


def _memory_inside(pid: int) -> dict[str, float]:
    """Return the memory of each process of the container, by the name that `ps` shows."""
    root = psutil.Process(pid)
    words = {each.pid: " ".join(each.cmdline()).split() for each in root.children()}
    names = {found[1]: pid for pid, found in words.items() if found[:1] == ["notify"]}
    sizes = costs.memory(names)
    return {**sizes, "supervisor": costs.memory({"all": pid})["all"] - sum(sizes.values())}


def _listed(shares: Mapping[str, float], form: str) -> str:
    largest = sorted(shares.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {form.format(share)}" for name, share in largest)
