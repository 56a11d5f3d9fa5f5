"""The units of docs/systemd run the processes of docker-compose.yml with the same promises."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from notifyproj import environment
from tests.architecture import compose, units
from tests.clock import ROOT

_SERVICES: Final = {
    name: each for name, each in compose.services().items() if name not in compose.SERVERS
}
_STOP_SECONDS: Final = 10
"""Compose's own time to stop."""
_MOST_EXPOSED: Final = 1.7
"""Of `systemd-analyze security`, 0 to 10: the proxy, which may take the ports 80 and 443. The
others have 1.5: their addresses are not limited, and they see the directories of the system."""
_ANALYZE: Final = shutil.which("systemd-analyze")
_needs_systemd = pytest.mark.skipif(_ANALYZE is None, reason="needs systemd-analyze")
in_each = pytest.mark.parametrize("name", sorted(_SERVICES))


def _unit(name: str) -> str:
    """Return the unit of a service of Compose."""
    return f"notify-{name.replace('worker-', 'worker@')}"


def test_both_run_the_same_processes() -> None:
    assert units.names() == {_unit(name) for name in _SERVICES} | {"notify-roles"}


def test_the_page_enables_each_process_as_often_as_compose_has_it() -> None:
    wanted = {"notify.target"}
    for name in _SERVICES.keys() - {"migrate"}:
        wanted.add(_unit(name))
        copies = _SERVICES[name].get("deploy", {}).get("replicas", 1)
        wanted |= {f"{_unit(name)}-{number}" for number in range(2, copies + 1)}
    assert units.enabled() == wanted
    script = (units.FOLDER / "install").read_text()
    linked = re.findall(r"ln -s (\S+)\.env /etc/notify/workers/(\S+)\.env", script)
    assert linked == [("p0", "p0-2")]


@in_each
def test_a_process_has_the_same_command(name: str) -> None:
    service = _SERVICES[name]
    theirs = [*service.get("entrypoint", []), *service["command"]]
    here = {
        "--host=0.0.0.0": "--host=127.0.0.1",
        "--address=0.0.0.0": "--address=127.0.0.1",
        "--hostname=worker@%h": f"--hostname={name.removeprefix('worker-')}@%H",
    }
    if name == "flower":  # the proxy has 5555, on the same host
        here["--port=5555"] = "--port=5556"
    program, *arguments = units.command(_unit(name))
    if name == "proxy":
        assert arguments[-2:] == theirs[-2:]
        assert Path(program).name == theirs[0]
        return
    assert program == f"/opt/notify/.venv/bin/{theirs[0]}"
    assert arguments == [here.get(each, each) for each in theirs[1:]]


@in_each
def test_a_process_has_the_same_time_to_stop_and_the_same_limits(name: str) -> None:
    service = _SERVICES[name]
    stop = compose.seconds(service.get("stop_grace_period", f"{_STOP_SECONDS}s"))
    signal = ["SIGQUIT"] if name == "proxy" else None  # as STOPSIGNAL of nginx's image
    assert units.service(_unit(name)).get("KillSignal") == signal
    assert units.one(_unit(name), "KillMode") == "mixed"
    assert int(units.one(_unit(name), "TimeoutStopSec")) == stop
    assert units.one(_unit(name), "MemoryMax") == service["mem_limit"].upper()
    assert int(units.one(_unit(name), "TasksMax")) == service["pids_limit"]
    files = service.get("ulimits", {}).get("nofile", 0)
    assert int(units.one(_unit(name), "LimitNOFILE")) >= files
    shares = service.get("cpu_shares", 1024) / 1024
    assert int(units.service(_unit(name)).get("CPUWeight", ["100"])[0]) == shares * 100
    again = {"migrate": None}.get(name, ["always"])
    assert units.service(_unit(name)).get("Restart") == again


@in_each
def test_a_process_has_the_same_settings_and_secrets(name: str) -> None:
    of_compose = {"COMPOSE_PROFILES", "TLS_FOLDER"}
    not_here = {*of_compose, "NGINX_ENVSUBST_FILTER", "NGINX_ENVSUBST_OUTPUT_DIR"}
    theirs = set(compose.environ(_SERVICES[name], compose.example())) - not_here
    ours = units.environ(_unit(name))
    assert set(ours) - {"QUEUES", "CONCURRENCY"} == theirs


def test_the_settings_of_an_installed_host_start_a_process() -> None:
    filled = {
        "NOTIFY_SECRET_KEY": "s" * 40,
        "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    }
    for name in ("notify-web", "notify-migrate", "notify-worker@ops"):
        given = {**units.environ(name), **filled}
        loaded = environment.load(given)
        owner = "notify_owner" if name == "notify-migrate" else "notify_app"
        assert f"//{owner}:" in loaded.database_url


def test_the_roles_get_the_passwords_that_the_processes_use() -> None:
    assert units.environ("notify-roles") == {
        "OWNER_PASSWORD": units.environ("notify-migrate")["DATABASE_PASSWORD"],
        "APP_PASSWORD": units.environ("notify-web")["DATABASE_PASSWORD"],
    }


@in_each
def test_only_processes_with_the_keys_of_the_service_share_its_user(name: str) -> None:
    service = units.service(_unit(name))
    apart = name in {"flower", "migrate", "proxy"}
    user = ["notify"] if not apart else None
    assert (service.get("User"), service.get("DynamicUser")) == (user, ["yes"] if apart else None)


def test_the_roles_leave_the_shared_memory_of_postgresql_alone() -> None:
    assert units.one("notify-roles", "User") == "postgres"
    assert "RemoveIPC" not in units.service("notify-roles")


def test_a_worker_leaves_its_calls_to_the_others_in_memory() -> None:
    for name in units.names():
        service = units.service(name)
        if "@" in name:
            assert units.environ(name)["NOTIFY_FLIGHT_RECORDER"] == "/run/notify"
            assert service["RuntimeDirectory"] == ["notify"]
            assert service["RuntimeDirectoryPreserve"] == ["yes"]
        else:  # a second unit with this folder would remove it at its end
            assert service.get("RuntimeDirectory") != ["notify"]


def test_only_the_sweeps_write_the_archive() -> None:
    [writer] = [name for name in units.names() if "StateDirectory" in units.service(name)]
    folder = f"/var/lib/{units.one(writer, 'StateDirectory')}"
    assert writer == "notify-worker@ops"
    assert units.environ(writer)["TMPDIR"] == folder
    for name in ("notify-web", writer):
        assert units.environ(name)["NOTIFY_ARCHIVE_URL"] == f"file://{folder}"


def test_each_process_with_metrics_has_a_port() -> None:
    ports = units.environ("notify-beat")["NOTIFY_METRICS_LISTEN"].rpartition(":")[2]
    first, last = map(int, ports.split("-"))
    users = [name for name in units.enabled() if "worker" in name or "beat" in name]
    assert last - first + 1 >= len(users)
    assert f"{len(users)} of its {last - first + 1} ports" in units.PAGE.read_text()


def test_the_proxy_alone_listens_beyond_the_host() -> None:
    proxy = units.environ("notify-proxy")
    addresses = {
        "WEB": units.command("notify-web"),
        "LIVE": units.command("notify-live"),
        "FLOWER": units.command("notify-flower"),
    }
    for name, words in addresses.items():
        [port] = [each.partition("=")[2] for each in words if each.startswith("--port=")]
        assert proxy[f"NOTIFY_PROXY_{name}"] == f"127.0.0.1:{port}"
    theirs = compose.environ(_SERVICES["proxy"], {})
    assert proxy["NOTIFY_PROXY_CONNECTIONS"] == theirs["NOTIFY_PROXY_CONNECTIONS"]
    assert proxy["NOTIFY_PROXY_FLOWER_PORT"].startswith("127.0.0.1:")


def test_what_each_unit_has_does_not_differ_between_them() -> None:
    [file] = (units.UNITS / units.EVERY_UNIT).iterdir()
    common = units.parsed(file)
    for each in units.UNITS.glob("*.service"):
        for section, keys in units.parsed(each).items():
            assert not keys.keys() & common.get(section, {}).keys(), each.name


def test_the_host_installs_what_the_image_has() -> None:
    image = (ROOT / "Dockerfile").read_text()
    script = (units.FOLDER / "install").read_text()
    [lock] = re.findall(r"awk .* requirements-lock.txt", image)
    [collect] = re.findall(r"DATABASE_URL=(?:.*\\\n)+.* collectstatic .*", image)
    assert lock in script
    assert collect.replace(" python manage.py", " .venv/bin/python manage.py") in script


def test_the_rendered_proxy_writes_to_the_journal(tmp_path: Path) -> None:
    if shutil.which("envsubst") is None:
        pytest.skip("needs envsubst of gettext-base")
    values = {**units.environ("notify-proxy"), "NOTIFY_PROXY_FILES": str(tmp_path)}
    subprocess.run(
        [units.FOLDER / "render-proxy"], env={"PATH": os.environ["PATH"], **values}, check=True
    )
    text = (tmp_path / "proxy.conf").read_text()
    assert "${NOTIFY_PROXY_" not in text
    assert "/dev/std" not in text
    assert "proxy_set_header Host $http_host;" in text


@pytest.fixture
def runnable(tmp_path: Path) -> list[str]:
    """Return the units whose programs are installed on the machine of the test."""
    shutil.copytree(units.UNITS, tmp_path, dirs_exist_ok=True)
    template = tmp_path / "notify-worker@.service"
    files = [each for each in tmp_path.glob("*.service") if each != template]
    for each in [*files, template]:
        text = re.sub(r"^(Exec\w+)=/\S+", r"\1=/usr/bin/env", each.read_text(), flags=re.MULTILINE)
        each.write_text(text)
    for group in ("ops", "expand", "p0"):
        files.append(tmp_path / f"notify-worker@{group}.service")
        shutil.copyfile(template, files[-1])
    return [*map(str, files), str(tmp_path / "notify.target")]


def _analyze(*arguments: str) -> tuple[int, str]:
    assert _ANALYZE
    done = subprocess.run(
        [_ANALYZE, "--no-pager", *arguments], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@_needs_systemd
def test_systemd_reads_the_units_without_a_complaint(runnable: list[str]) -> None:
    assert _analyze("verify", "--man=no", *runnable) == (0, "")


@_needs_systemd
def test_systemd_finds_a_mistake_in_what_each_unit_has(runnable: list[str]) -> None:
    [file] = (Path(runnable[0]).parent / units.EVERY_UNIT).iterdir()
    file.write_text(f"{file.read_text()}ProtectEverything=yes\n")
    _, told = _analyze("verify", "--man=no", *runnable)
    assert "ProtectEverything" in told


@_needs_systemd
def test_no_unit_is_more_exposed_than_stated(runnable: list[str]) -> None:
    for each in runnable[:-1]:
        failed, told = _analyze(
            "security", "--offline=true", f"--threshold={round(_MOST_EXPOSED * 10)}", each
        )
        assert not failed, told
