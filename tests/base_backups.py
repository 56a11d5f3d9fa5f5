"""A server that archives its WAL, and a server that is restored from a base backup and the WAL."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import psycopg

from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers.location import PRIVATE, make_folder
from notifyproj.devstack.servers.postgres import Postgres
from tests.standbys import base_backup, programs, run


class Restored(Postgres):
    """A server whose data come from a base backup and an archive of WAL."""

    def __init__(self, source: Archiving, *, until_time: datetime | None) -> None:
        self._source, self._until_time = source, until_time
        server = source.server
        settings = {
            **source.settings,
            "restore_command": f"cp {source.archive}/%f %p",
            "recovery_target_action": "promote",
        }
        if until_time is not None:
            settings["recovery_target_time"] = until_time.isoformat()
        super().__init__(
            "restored", place=server.place, password=server.password, settings=settings
        )

    def prepare(self) -> None:
        """Copy the base backup on first use, with the WAL of the lost server unless time ends."""
        if not self.data.exists():
            shutil.copytree(self._source.backup, self.data)
            if self._until_time is None:
                wal = self._source.server.data / "pg_wal"
                shutil.copytree(wal, self.data / "pg_wal", dirs_exist_ok=True)
            (self.data / "recovery.signal").touch()
            for path in (self.data, *self.data.rglob("*")):
                self.place.chown(path)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def answers(self) -> bool:
        """Return True when the WAL is replayed and the server takes writes."""
        with suppress(psycopg.OperationalError):
            return run(self, "SELECT pg_is_in_recovery()") == [(False,)]
        return False

    def raise_epoch(self) -> None:
        """Let the ids of new transactions begin behind all that were ever given."""
        [(epoch,)] = run(self, "SELECT pg_current_xact_id()::text::bigint >> 32")
        self.stop()
        account = self.place.account
        subprocess.run(
            [self._resetwal(), f"--epoch={epoch + 1}", str(self.data)],
            cwd=self.data,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            check=True,
            capture_output=True,
        )
        self.start()

    def _resetwal(self) -> Path:
        """Return the program at a place where the servers' account may run it."""
        program = self.place.programs / "pg_resetwal"
        if not program.exists():
            aside = self.data / program.name
            shutil.copy2(programs() / program.name, aside)
            aside.rename(program)
        return program


class Archiving:
    """Let a server archive its WAL; the end restarts the server without an archive."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self.settings: Final = dict(server.settings)
        self.archive = server.place.folder / "wal-archive"
        self.backup = server.place.folder / "base-backup"
        self._restored: list[Restored] = []

    def __enter__(self) -> Self:
        self._clear()
        make_folder(self.archive, mode=PRIVATE)
        self.server.place.chown(self.archive)
        self.server.settings = {
            **self.settings,
            "archive_mode": "on",
            "archive_command": f"test ! -f {self.archive}/%f && cp %p {self.archive}/%f",
        }
        self.server.restart()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._restored:
            each.kill()
            each.erase()
        self.server.kill()
        self.server.settings = self.settings
        self.server.start()
        self._clear()

    def back_up(self) -> None:
        """Make the base backup, while the server works."""
        base_backup(self.server, self.backup)

    def until_archived(self) -> None:
        """Complete the present segment of the WAL, and wait until the archive has it."""
        [(segment,)] = run(self.server, "SELECT pg_walfile_name(pg_switch_wal())")
        until((self.archive / segment).exists, what="the archive has the WAL")

    def restore(self, *, until_time: datetime | None = None) -> Restored:
        """Start another server with the base backup and the WAL.

        Args:
            until_time: the end of what is restored; None: all WAL of the archive, and the WAL that
                the lost server had not archived.
        """
        restored = Restored(self, until_time=until_time)
        restored.erase()
        self._restored.append(restored)
        restored.start()
        return restored

    def _clear(self) -> None:
        for folder in (self.archive, self.backup):
            shutil.rmtree(folder, ignore_errors=True)
