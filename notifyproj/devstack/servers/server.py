"""One server process of ours: started, awaited, stopped, killed, started again on the same port.

The promises: `start` returns when the server answers; whatever a killed predecessor left behind
(processes, a stale pid file) is cleared first; data survives SIGKILL. Leftovers are known by their
working folder, which is the data folder: a pid in a file may belong to somebody else by now, a
folder cannot.
"""

from __future__ import annotations

import shutil
import signal
import time
from abc import ABC, abstractmethod
from typing import ClassVar, Final

import psutil

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import free_port
from notifyproj.devstack.servers.errors import EmbeddedError
from notifyproj.devstack.servers.location import PRIVATE, Location, make_folder

_START_SECONDS: Final = 60.0
"""Crash recovery of a busy demo takes a few seconds; a minute means that something is wrong."""
_PAUSE_SECONDS: Final = 0.03
"""Between two questions whether the server answers."""
_ENVIRONMENT: Final = {"LANG": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin"}


class Server(Child, ABC):
    """What Postgres and Valkey have in common."""

    program: ClassVar[str]
    """The process's name, by which leftovers are known."""

    def __init__(self, name: str, *, place: Location, password: str) -> None:
        super().__init__(name, log=place.folder / f"{name}.log")
        self.place = place
        self.password = password
        self.data = place.folder / name
        self.port = 0

    def erase(self) -> None:
        """Remove the data of a server that is down: the next start makes it anew.

        Raises:
            EmbeddedError: a killed predecessor still uses the data and cannot be stopped.
        """
        self._clear_leftovers()
        shutil.rmtree(self.data, ignore_errors=True)

    @property
    @abstractmethod
    def url(self) -> str:
        """How to reach it, password included."""

    @abstractmethod
    def command(self) -> list[str]:
        """The server's command line. No secret in it: any user of the machine can read it."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it serves requests now."""

    def configuration(self) -> bytes:
        """What the server reads from its standard input."""
        return b""

    def prepare(self) -> None:
        """Make the data folder ready; runs before every start, when no process uses it."""
        make_folder(self.data, mode=PRIVATE)
        self.place.chown(self.data)

    def start(self) -> None:
        """Start and wait until it answers (see `wait_ready`); does nothing when it runs."""
        self.launch()
        self.wait_ready()

    def launch(self) -> None:
        """Start without waiting: `wait_ready` must follow."""
        if self.pid is not None:
            return
        self._clear_leftovers()
        self.prepare()
        self.port = self.port or free_port(f"{self.place.folder}/{self.name}")
        self.spawn(
            self.command(),
            folder=self.data,
            environ=_ENVIRONMENT,
            account=self.place.account,
            standard_input=self.configuration(),
        )

    def wait_ready(self) -> None:
        """Wait until it answers.

        Raises:
            EmbeddedError: it ended, or did not answer within a minute.
        """
        deadline = time.monotonic() + _START_SECONDS
        while not self.answers():
            if self.wait_for_end(_PAUSE_SECONDS):
                raise EmbeddedError(f"{self.name} ended at its start: {self.last_log_line()}")
            if time.monotonic() > deadline:
                self.kill()
                raise EmbeddedError(f"{self.name} does not answer on {self.port}: see {self.log}")

    def restart(self) -> None:
        """Stop cleanly and start again, on the same port with the same data."""
        self.stop()
        self.start()

    def _clear_leftovers(self) -> None:
        """Stop what a killed predecessor left running on this data.

        Raises:
            EmbeddedError: it cannot be stopped.
        """
        found = [
            process
            for process in psutil.process_iter(["name", "cwd"])
            if process.info["name"] == self.program and process.info["cwd"] == str(self.data)
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
            continue  # it ended by itself
