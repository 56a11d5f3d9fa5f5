"""The flight recorder: notes about provider calls in memory that outlives the process.

    free ── plan ──> planned ── begin ──> begun ── answer ──> answered ── end ──> free
              the claim's lease is renewed, committed               settled, committed

Each process has a file of fixed records in a folder of the host and maps the file into memory. A
note costs a microsecond and no system call. The kernel keeps the pages of a killed process and
frees the lock on the file, so the lock tells other processes of the host if the owner is alive. A
frozen process keeps the lock, and nothing is concluded from its file.

A record has the key of a sent-ledger entry and the entry to publish: `NotStarted` while the call is
planned, none while the call is begun, and the provider's answer afterwards. `reap` publishes the
entries of dead processes into the sent-ledger, where the rescue reads them; an existing entry
stays. The state of a record is stored after its content, so a kill leaves no half of an entry.

The notes are lost with the host: a file of an earlier boot is deleted unread. Without a usable
folder nothing is noted, and a killed worker's calls are unanswered.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import mmap
import os
import stat
import struct
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import structlog

from notifications.core import conf
from notifications.core.store.redis import sent_ledger, state

_log = structlog.get_logger(__name__)

OFF: Final = "off"
"""Value of the setting that switches the recorder off."""
CALLS: Final = 4_096
"""Calls of a process without a settle; a further call is not noted."""
_SIZE: Final = 512
"""Bytes of a record, and of the header of the file."""
_CONTENT: Final = struct.Struct("<HH16s")
"""Length of the entry, attempt, delivery id; the state is in the byte before, the entry behind."""
_ENTRY_AT: Final = 1 + _CONTENT.size
_LONGEST: Final = _SIZE - _ENTRY_AT
_FREE, _PLANNED, _BEGUN, _ANSWERED = range(4)
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_SUFFIX: Final = ".calls"


class Flight:
    """The record of a call. A step is a store of one byte, after the content."""

    __slots__ = ("_at", "_attempt", "_id", "_recorder", "entry")

    def __init__(self, recorder: _Recorder, at: int, delivery_id: UUID, entry: bytes) -> None:
        """Take the record at an offset, before `plan` writes."""
        self._recorder, self._at, self._id, self.entry = recorder, at, delivery_id, entry
        self._attempt = 0

    @property
    def key(self) -> str:
        """Return the key of the ledger's entry."""
        return sent_ledger.key_of(self._id, self._attempt)

    def plan(self, attempt: int) -> None:
        """Note an attempt before its call; again for the next attempt."""
        if attempt != self._attempt:
            self._attempt = attempt
            self._write(_PLANNED, self.entry)

    def begin(self) -> None:
        """Note that bytes of the call may leave from now on."""
        if self._attempt > 0:  # an ended call has no record
            self._recorder.memory[self._at] = _BEGUN

    def answer(self, entry: bytes) -> None:
        """Note the definite answer; an entry that is too long leaves the call begun."""
        if self._attempt > 0:
            self._recorder.memory[self._at] = _BEGUN
            if len(entry) <= _LONGEST:
                self._write(_ANSWERED, entry)

    def end(self) -> None:
        """Free the record: the database has the outcome, or the call was not made."""
        if self._attempt > 0:
            self._attempt = 0
            self._recorder.memory[self._at] = _FREE
            self._recorder.free.append(self._at)

    def _write(self, status: int, entry: bytes) -> None:
        memory, at, length = self._recorder.memory, self._at, len(entry)
        _CONTENT.pack_into(memory, at + 1, length, self._attempt, self._id.bytes)
        begin = at + _ENTRY_AT
        memory[begin : begin + length] = entry
        memory[at] = status


class _Recorder:
    """The file of this process."""

    def __init__(self, folder: Path, name: str) -> None:
        """Create, lock and map the file.

        Raises:
            OSError: the folder is not usable, or has no room.
        """
        length = _SIZE * (CALLS + 1)
        draft, self.path = folder / f".{name}", folder / f"{name}{_SUFFIX}"
        self.file = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A hole in a file system that is full would end the process with SIGBUS.
            os.posix_fallocate(self.file, 0, length)
            os.pwrite(self.file, _boot(), 0)
            self.memory = mmap.mmap(self.file, length)
            draft.rename(self.path)  # from now on other processes look at the file
        except OSError:
            os.close(self.file)
            draft.unlink(missing_ok=True)
            raise
        self.free = deque(range(_SIZE, length, _SIZE))
        atexit.register(self.close)

    def close(self) -> None:
        """Delete the file at the end of the process, if no call waits for its settle."""
        if len(self.free) == CALLS:
            self.path.unlink(missing_ok=True)


class _Process:
    """The recorder of this process; the first plan opens the file."""

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.recorder: _Recorder | None = None
        self.is_tried = False
        self.fault = ""
        """The reason why the recorder is off against the settings."""
        self.is_full = False

    def open_once(self) -> _Recorder | None:
        if not self.is_tried:
            with self.opening:
                if not self.is_tried:
                    self.recorder = _open()
                    self.is_tried = True
        return self.recorder


_process = _Process()


def forget() -> None:
    """Close the file and start anew: in the child of a fork the file belongs to the parent.

    The parent's own descriptor keeps the lock.
    """
    global _process
    inherited, _process = _process.recorder, _Process()
    if inherited is not None:
        atexit.unregister(inherited.close)
        os.close(inherited.file)
        with contextlib.suppress(BufferError):  # a thread of the parent was writing
            inherited.memory.close()  # it has a descriptor of its own


os.register_at_fork(after_in_child=forget)


def free_records() -> int:
    """Return the number of calls that can be noted now."""
    recorder = _process.open_once()
    return len(recorder.free) if recorder is not None else 0


def fault() -> str:
    """Return the reason for the end of notes until a restart; empty: notes are taken or off."""
    _process.open_once()
    return _process.fault


def plan(delivery_id: UUID, attempt: int, entry: bytes) -> Flight | None:
    """Note a call before the lease is renewed; `entry` says that the call was not started.

    None: the recorder is off or full.
    """
    recorder = _process.open_once()
    if recorder is None:
        return None
    try:
        at = recorder.free.pop()
    except IndexError:
        if not _process.is_full:
            _process.is_full = True
            _log.warning("flight_recorder_full", calls=CALLS)
        return None
    flight = Flight(recorder, at, delivery_id, entry)
    flight.plan(attempt)
    return flight


def reap() -> int:
    """Publish the notes of dead processes of this host into the sent-ledger; return the count.

    Safe to run twice, and beside other processes.

    Raises:
        state.Away: the notes could not be published.
    """
    folder = _folder()
    if folder is None or not folder.is_dir():
        return 0
    found = 0
    for path in sorted(folder.glob(f"{_installation()}-*{_SUFFIX}")):
        with _content_of_dead(path) as content:
            if content is None:
                continue
            entries = entries_in(content)
            if not sent_ledger.add_encoded(entries):
                raise state.Away
            path.unlink(missing_ok=True)  # after the entries are in the ledger
            found += len(entries)
    if found:
        _log.warning("flight_recorder_read", entries=found)
    return found


@contextmanager
def _content_of_dead(path: Path) -> Iterator[bytes | None]:
    """Give the content of the file of a dead process; None if the owner is alive.

    The owner has an exclusive lock for its life, and readers share a lock, so a lock refused
    to a reader is the owner's.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield None
        return
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield os.pread(file, _SIZE * (CALLS + 1), 0)
    except BlockingIOError:
        yield None
    finally:
        os.close(file)


def entries_in(content: bytes) -> Mapping[str, bytes]:
    """Return the entries to publish, by key; none of a file of an earlier boot."""
    if not content.startswith(_boot()):
        return {}
    entries = {}
    for at in range(_SIZE, len(content) - _SIZE + 1, _SIZE):
        if content[at] in {_PLANNED, _ANSWERED}:
            length, attempt, name = _CONTENT.unpack_from(content, at + 1)
            entry = content[at + _ENTRY_AT : at + _ENTRY_AT + length]
            entries[sent_ledger.key_of(UUID(bytes=name), attempt)] = entry
    return entries


def _open() -> _Recorder | None:
    folder = _folder()
    if folder is None:
        return None
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700, parents=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise NotADirectoryError(f"{folder} is not a folder of this user")
        return _Recorder(folder, f"{_installation()}-{uuid4().hex}")
    except OSError as error:
        _log.warning("flight_recorder_off", folder=str(folder), why=str(error))
        _process.fault = f"cannot use {folder}: {error.strerror or error}"
        return None


def _folder() -> Path | None:
    chosen = conf.current().flight_recorder
    return None if chosen == OFF else Path(chosen)


def _installation() -> str:
    """Return the name of an installation on a host with several, from the state Redis."""
    url = urlsplit(conf.current().state_url)
    place = f"{url.hostname}:{url.port}{url.path}"
    return hashlib.blake2b(place.encode(), digest_size=8).hexdigest()


def _boot() -> bytes:
    return _BOOT.read_bytes() if _BOOT.exists() else b"unknown"
