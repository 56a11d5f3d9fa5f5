"""This release replaces the one before under load, and processes of both work at the same time.

The files of the release before come from git: from the commit in UPGRADE_FROM, else from the tag of
the last release. The database has the tables of this release, as after `migrate`.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.supervisor.process import ROOT
from notifyproj.devstack.supervisor.programs import Ports
from tests.architecture import last_release
from tests.brokers import valkey_only
from tests.scenarios.container import Container, env_file, passwords, places
from tests.scenarios.producers import Load
from tests.scenarios.world import World

BEFORE: Final = os.environ.get("UPGRADE_FROM") or last_release.tag()
pytestmark = [valkey_only, pytest.mark.skipif(BEFORE is None, reason=last_release.why_none())]

_PASSWORD: Final = "opens-both-valkeys"
_WORKERS: Final = {"p0": "worker-p0", "ops": "worker-ops", "beat": "beat"}
"""Name of a process of the scenarios -> service of docker-compose.yml."""
_STOP_SECONDS: Final = 45.0


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files of the release before."""
    folder = tmp_path_factory.mktemp("release")
    archive = folder.with_suffix(".zip")
    git = ("/usr/bin/env", "git", "archive", "--format=zip", f"--output={archive}", str(BEFORE))
    subprocess.run(git, cwd=ROOT, check=True)
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)
    return folder


@pytest.fixture
def load(world: World) -> Iterator[Load]:
    with passwords(world.stack, _PASSWORD):
        yield Load(world, world.person(email="x+slow-50ms@sandbox.example"))


@pytest.fixture
def ports(tmp_path: Path) -> Ports:
    return Ports(**{
        name: free_port(f"{tmp_path}/{name}") for name in ("web", "live", "flower", "sandbox")
    })


@contextmanager
def _started(
    world: World, *names: str, ports: Ports, folder: Path, var: Path
) -> Iterator[dict[str, Container]]:
    """Run services of the release before, on the servers of the scenario."""
    values = env_file(world.environ, redis_password=_PASSWORD)
    here = places(world.stack, ports)
    found = {
        name: Container(name, values=values, places=here, var=var, folder=folder) for name in names
    }
    try:
        for each in found.values():
            each.start()
        yield found
    finally:
        for each in found.values():
            each.kill()


def test_workers_of_the_release_before_send_what_this_web_accepts(
    world: World, load: Load, release: Path, ports: Ports, tmp_path: Path
) -> None:
    with load.running():
        for name in _WORKERS:
            world.processes[name].ask_to_stop()
            assert world.processes[name].wait_for_end(_STOP_SECONDS), name
        names = _WORKERS.values()
        with _started(world, *names, ports=ports, folder=release, var=tmp_path) as former:
            for name, each in former.items():
                until(each.is_healthy, what=f"{name} of the release before is healthy")
            load.until_more(200)
            for each in former.values():
                each.ask_to_stop()
            for name, each in former.items():
                assert each.wait_for_end(_STOP_SECONDS), name
                assert each.exit_code == 0, name
        world.start(*_WORKERS)
        load.until_more(100)
    load.check()


def test_workers_of_this_release_send_what_the_web_before_accepts(
    world: World,
    load: Load,
    release: Path,
    ports: Ports,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _started(world, "web", ports=ports, folder=release, var=tmp_path):
        until(lambda: _answers(ports.web), what="the web of the release before answers")
        monkeypatch.setattr(world, "url", f"http://{LOOPBACK}:{ports.web}")
        with load.running():
            load.until_more(200)
        load.check()


def _answers(port: int) -> bool:
    link = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        link.request("GET", "/healthz")
        return link.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        link.close()
