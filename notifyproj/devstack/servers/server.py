"""A server process: start, wait, stop, kill, and restart on the same port.

`start` returns as soon as the server answers. Before the start, the processes and the stale pid
file of a killed predecessor are removed. Data survives SIGKILL. A leftover process is known by its
working folder, which is the data folder, because another process may have the pid of a pid file.
"""

from __future__ import annotations

import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import psutil

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import free_port
from notifyproj.devstack.servers.errors import EmbeddedError
from notifyproj.devstack.servers.location import PRIVATE, Location, make_folder

_START_SECONDS: Final = 60.0
"""Longest start; crash recovery of a busy demo takes a few seconds."""
_PAUSE_SECONDS: Final = 0.03
"""Pause between two checks for an answer of the server."""
ENVIRONMENT: Final = {"LANG": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin"}


class Server(Child, ABC):
    """Base class of Postgres, Valkey and RabbitMQ."""

    program: ClassVar[str]
    """Name of the process, which identifies leftover processes."""
    helpers: ClassVar[Sequence[str]] = ()
    """Names of further processes of the server in the same folder."""

    def __init__(self, name: str, *, place: Location, password: str) -> None:
        super().__init__(name, log=place.folder / f"{name}.log")
        self.place = place
        self.password = password
        self.data = place.folder / name
        self.port = 0

    def erase(self) -> None:
        """Remove the data of a server that is down; the next start begins with new data.

        Raises:
            EmbeddedError: a killed predecessor still uses the data and cannot be stopped.
        """
        self._clear_leftovers()
        shutil.rmtree(self.data, ignore_errors=True)

    @property
    @abstractmethod
    def url(self) -> str:
        """URL of the server, with the password."""

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command line, without secrets: every user of the machine can read it."""

    @abstractmethod
    def answers(self) -> bool:
        """Return True if the server serves requests now."""

    def configuration(self) -> bytes:
        """Return the server's standard input."""
        return b""

    def environ(self) -> Mapping[str, str]:
        """Return the environment of the process."""
        return ENVIRONMENT

    def prepare(self) -> None:
        """Prepare the data folder before each start, while no process uses the folder."""
        make_folder(self.data, mode=PRIVATE)
        self.place.chown(self.data)

    def start(self) -> None:
        """Start the server and wait for an answer (see `wait_ready`); a running server stays."""
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """Start the server without waiting; `wait_ready` must follow."""
        if self.pid is not None:
            return
        self._clear_leftovers()
        self.prepare()
        self.port = self.port or free_port(f"{self.place.folder}/{self.name}")
        self.spawn(
            self.command(),
            folder=self.data,
            environ=self.environ(),
            account=self.place.account,
            standard_input=self.configuration(),
        )

    def wait_ready(self) -> None:
        """Wait until the server answers.

        Raises:
            EmbeddedError: the server ended, or did not answer within a minute.
        """
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if self.wait_for_end(_PAUSE_SECONDS):
                raise EmbeddedError(f"{self.name} ended at its start: {self.last_log_line()}")
            if time.monotonic() > deadline:
                self.kill()
                raise EmbeddedError(f"{self.name} does not answer on {self.port}: see {self.log}")

    def restart(self) -> None:
        """Stop the server cleanly and start the server on the same port with the same data."""
        self.stop()
        self.start()

    def _clear_leftovers(self) -> None:
        """Stop the processes of a killed predecessor on this data.

        Raises:
            EmbeddedError: a process cannot be stopped.
        """
        names = {self.program, *self.helpers}
        found = [
            process
            for process in psutil.process_iter(["name", "cwd"])
            if process.info["name"] in names and process.info["cwd"] == str(self.data)
        ]
        _signal_all(found, self.stop_signal)
        _, alive = psutil.wait_procs(found, timeout=self.stop_seconds)
        _signal_all(alive, signal.SIGKILL)
        _, alive = psutil.wait_procs(alive, timeout=self.stop_seconds)
        if alive:
            raise EmbeddedError(f"Process {alive[0].pid} still uses {self.data}: stop it.")


def _signal_all(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue  # the process has ended
