"""A release that cannot work is started beside the release that works, under load.

The processes of the new release have the commands, variables and health checks of
docker-compose.yml. Kubernetes replaces a process when the new one is ready, so no process of a
release that cannot work may be ready: the process ends at its start, or its health check fails.
Meanwhile the old processes lose nothing and send nothing twice.
"""

from __future__ import annotations

import http.client
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.supervisor.process import ROOT
from notifyproj.devstack.supervisor.programs import Ports
from tests.brokers import valkey_only
from tests.scenarios.container import Container, all_in_one, env_file, passwords, places
from tests.scenarios.producers import Load
from tests.scenarios.world import World

pytestmark = valkey_only

_SERVICES: Final = ("web", "live", "worker-p0", "worker-ops", "beat")
_PASSWORD: Final = "opens-both-valkeys"
_CODE: Final = ("notifications", "notifyproj", "providers", "templates", "celeryconfig.py")
_ROLE: Final = "notify_next"
"""A role and its password."""
_CERTIFICATE: Final = "sslmode=verify-full&sslrootcert=/etc/notify/missing.pem"
_TRIED: Final = "clock_not_compared"
"""The log event of a process that could not ask the database."""
_STOP_SECONDS: Final = 45.0


def _free_ports(name: str) -> Ports:
    return Ports(**{
        each: free_port(f"{name}/{each}") for each in ("web", "live", "flower", "sandbox")
    })


class _NewRelease:
    """The processes of a new release, on the servers of the old one and on ports of its own.

    Args:
        settings: variables that differ from those of the old release.
        here: text of docker-compose.yml -> text on this machine, before the usual places.
        folder: the folder with the code.
    """

    def __init__(
        self,
        world: World,
        var: Path,
        *,
        settings: Mapping[str, str] | None = None,
        here: Mapping[str, str] | None = None,
        folder: Path = ROOT,
    ) -> None:
        self.ports = _free_ports(f"{var}/full")
        values = {**env_file(world.environ, redis_password=_PASSWORD), **(settings or {})}
        values["NOTIFY_FLOWER_PASSWORD"] = "opens-only-this-flower"
        found = {**(here or {}), **places(world.stack, self.ports)}
        self.processes = {
            name: Container(name, values=values, places=found, var=var, folder=folder)
            for name in _SERVICES
        }
        self._small = all_in_one(
            world.stack,
            ports=_free_ports(f"{var}/small"),
            values=values,
            var=var,
            first=here or {},
        )

    @contextmanager
    def started(self, *, small: bool = False) -> Iterator[None]:
        """Start the processes, with `small` also the one of a small installation."""
        if small:
            self.processes["all-in-one"] = self._small
        try:
            for each in self.processes.values():
                each.start()
            yield
        finally:
            for each in self.processes.values():
                each.kill()

    def ends(self) -> dict[str, str]:
        """Wait until each process has ended; return the log of each.

        Raises:
            AssertionError: a process ended with the exit status of success.
        """
        for name, each in self.processes.items():
            until(each.has_ended, what=f"{name} ends")
        assert {name for name, each in self.processes.items() if not each.exit_code} == set()
        return {name: each.log.read_text() for name, each in self.processes.items()}

    def stop(self) -> None:
        """Stop the processes as a deploy does: a killed worker would leave calls to the rescue."""
        for each in self.processes.values():
            each.ask_to_stop()
        for name, each in self.processes.items():
            assert each.wait_for_end(_STOP_SECONDS), name

    def status(self, path: str) -> int:
        """Return the status of the answer of web."""
        link = http.client.HTTPConnection(LOOPBACK, self.ports.web, timeout=30)
        try:
            link.request("GET", path)
            return link.getresponse().status
        finally:
            link.close()


@pytest.fixture(autouse=True)
def _passwords(world: World) -> Iterator[None]:
    with passwords(world.stack, _PASSWORD):
        yield


@pytest.fixture
def load(world: World) -> Load:
    return Load(world, world.person(email="x+slow-50ms@sandbox.example"))


@pytest.mark.parametrize(
    ("setting", "settings", "here"),
    [
        ("NOTIFY_ROUTE", {"NOTIFY_ROUTE": "push=sandbox"}, {}),
        ("NOTIFY_CAPS", {"NOTIFY_CAPS": "push=many"}, {}),
        ("DATABASE_URL", {}, {"5432/notify": f"5432/notify?{_CERTIFICATE}"}),
    ],
    ids=["unknown", "invalid", "certificate"],
)
def test_each_process_with_a_setting_that_cannot_work_ends_and_names_it(
    world: World,
    load: Load,
    tmp_path: Path,
    setting: str,
    settings: dict[str, str],
    here: dict[str, str],
) -> None:
    release = _NewRelease(world, tmp_path, settings=settings, here=here)
    with load.running(), release.started(small=True):
        told = release.ends()
        load.until_more(20)
    lines = {name: text.strip().splitlines()[-1] for name, text in told.items()}
    assert {name for name, line in lines.items() if setting not in line} == set()
    load.check()


def test_each_process_whose_code_cannot_be_imported_ends(
    world: World, load: Load, tmp_path: Path
) -> None:
    code = tmp_path / "release"
    for name in _CODE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, code / name)
    settings = code / "notifications" / "core" / "models" / "__init__.py"
    settings.write_text("import a_module_that_the_image_lacks\n")
    release = _NewRelease(world, tmp_path, folder=code)
    with load.running(), release.started():
        told = release.ends()
        load.until_more(20)
    assert {name for name, text in told.items() if "a_module_that_the_image_lacks" not in text} == (
        set()
    )
    load.check()


def test_a_release_without_access_to_the_database_is_not_ready_until_it_has_access(
    world: World, load: Load, tmp_path: Path
) -> None:
    release = _NewRelease(
        world,
        tmp_path,
        settings={"DATABASE_PASSWORD": _ROLE},
        here={"notify_app@postgres": f"{_ROLE}@postgres"},
    )
    with load.running(), release.started():
        for name, each in release.processes.items():
            until(partial(each.says, _TRIED), what=f"{name} asks")
        assert [name for name, each in release.processes.items() if each.answers_check()] == []
        assert (release.status("/healthz"), release.status("/startupz")) == (200, 503)
        load.until_more(20)
        with _role(world):
            for name, each in release.processes.items():
                until(each.is_healthy, what=f"{name} is healthy")
            assert release.status("/startupz") == 200
            release.stop()
    load.check()
    assert {row["attempts"] for row in world.deliveries(list(load.accepted.values()))} == {1}


@contextmanager
def _role(world: World) -> Iterator[None]:
    """Create the role of the new release, with the rights of the old one."""
    world.rows(f"CREATE ROLE {_ROLE} LOGIN PASSWORD '{_ROLE}' IN ROLE notify_app")
    try:
        yield
    finally:
        world.rows(f"DROP ROLE {_ROLE}")


def test_a_process_that_waits_for_its_database_stops_when_asked(
    world: World, tmp_path: Path
) -> None:
    release = _NewRelease(world, tmp_path, settings={"DATABASE_PASSWORD": "opens-nothing"})
    with release.started(small=True):
        for name, each in release.processes.items():
            until(partial(each.says, _TRIED), what=f"{name} asks")
        release.stop()
        assert {each.exit_code for each in release.processes.values()} == {0}
