"""The commands that compose gives Valkey and PostgreSQL, run by a shell with real servers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
import yaml

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.location import find_location
from tests.clock import ROOT

_SERVICES: Final[dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())[
    "services"
]
_PASSWORD: Final = """a "quoted" \\back\\slash's #%$HOME/@:?&= end"""


def _script(service: str) -> str:
    """The service's command as its shell gets it: compose writes a dollar as two."""
    [script] = _SERVICES[service]["command"]
    return str(script).replace("$$", "$").strip()


@pytest.mark.parametrize("service", ["state", "broker"])
def test_valkey_takes_any_password_and_shows_none_in_its_command_line(
    service: str, tmp_path: Path
) -> None:
    program = find_location("compose", root=ROOT).valkey
    port = free_port(str(tmp_path))
    script = _script(service).replace("/run/valkey", str(tmp_path))
    script = script.replace("exec valkey-server", f"exec {program}")
    script += f" --port {port} --bind {LOOPBACK} --dir {tmp_path}"
    environ = {"PATH": "/usr/bin:/bin", "PASSWORD": _PASSWORD}
    log = (tmp_path / "log").open("wb")
    with log, subprocess.Popen(["/bin/sh", "-ec", script], env=environ, stdout=log) as server:
        try:
            client = redis.Redis(host=LOOPBACK, port=port, password=_PASSWORD)
            until(lambda: _pings(client), what="Valkey answers")
            stranger = redis.Redis(host=LOOPBACK, port=port)
            with pytest.raises(redis.AuthenticationError):
                stranger.ping()
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            line = Path(f"/proc/{server.pid}/cmdline")
            assert not line.exists() or b"quoted" not in line.read_bytes()
        finally:
            server.kill()


def _pings(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_the_roles_are_made_with_any_passwords(stack: Stack) -> None:
    parts = urlsplit(stack.postgres.url)
    script = _script("roles").replace("/roles.sql", str(ROOT / "docs" / "compose" / "roles.sql"))
    # A database of its own: that of the other tests keeps its owner.
    with psycopg.connect(stack.postgres.url, autocommit=True) as link:
        link.execute("DROP DATABASE IF EXISTS of_compose")
        link.execute("CREATE DATABASE of_compose")
    environ = {
        "PATH": "/usr/bin:/bin",
        "PGHOST": str(parts.hostname),
        "PGPORT": str(parts.port),
        "PGUSER": str(parts.username),
        "PGPASSWORD": str(parts.password),
        "PGDATABASE": "of_compose",
        "OWNER_PASSWORD": f"owner {_PASSWORD}",
        "APP_PASSWORD": f"app {_PASSWORD}",
    }
    for _ in range(2):  # at each start of compose
        subprocess.run(["/bin/sh", "-ec", script], env=environ, check=True, capture_output=True)
    for role, allowed in (("owner", True), ("app", False)):
        with psycopg.connect(
            host=parts.hostname,
            port=parts.port,
            dbname="of_compose",
            user=f"notify_{role}",
            password=f"{role} {_PASSWORD}",
        ) as link:
            found = link.execute(
                "SELECT has_schema_privilege('public', 'CREATE'), current_setting('is_superuser')"
            )
            assert found.fetchone() == (allowed, "off")
