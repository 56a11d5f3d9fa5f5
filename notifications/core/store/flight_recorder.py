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
stays. The state of a record is a byte that is stored after the content, and content changes only
while the state publishes nothing, so a kill leaves no half of an entry.

A record is named by its offset in the file. After `end` the caller uses the offset no more: the
record belongs to the next call.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_ATTEMPT: Final = struct.Struct("<H")
_ATTEMPT_AT: Final = 3
_ENTRY_AT: Final = 1 + _CONTENT.size
_LONGEST: Final = _SIZE - _ENTRY_AT
_FREE, _PLANNED, _BEGUN, _ANSWERED = range(4)
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_SUFFIX: Final = ".calls"


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
        self.is_full = False
        """True after the first call without a free record."""
        atexit.register(self.close)

    def take(self, count: int) -> Sequence[int]:
        """Take up to `count` free records."""
        taken: list[int] = []
        with contextlib.suppress(IndexError):
            while len(taken) < count:
                taken.append(self.free.pop())
        if len(taken) < count and not self.is_full:
            self.is_full = True
            _log.warning("flight_recorder_full", calls=CALLS)
        return taken

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


def plan(calls: Sequence[tuple[UUID, int]], entry: bytes) -> Sequence[int | None]:
    """Note calls before their leases are renewed.

    Args:
        calls: the deliveries and the numbers of their attempts.
        entry: says that a call was not started.

    Returns:
        The record of each call; None: the recorder is off or full.
    """
    recorder = _process.open_once()
    if recorder is None:
        return [None] * len(calls)
    memory, length = recorder.memory, len(entry)
    records = recorder.take(len(calls))
    for at, (delivery_id, attempt) in zip(records, calls, strict=False):
        _CONTENT.pack_into(memory, at + 1, length, attempt, delivery_id.int.to_bytes(16))
        memory[at + _ENTRY_AT : at + _ENTRY_AT + length] = entry
        memory[at] = _PLANNED
    return [*records, *[None] * (len(calls) - len(records))]


def plan_again(record: int, attempt: int) -> None:
    """Change the number of a planned attempt."""
    if (recorder := _process.recorder) is not None:
        recorder.memory[record] = _FREE
        _ATTEMPT.pack_into(recorder.memory, record + _ATTEMPT_AT, attempt)
        recorder.memory[record] = _PLANNED


def begin(record: int) -> None:
    """Note that bytes of a call may leave from now on."""
    if (recorder := _process.recorder) is not None:
        recorder.memory[record] = _BEGUN


def answer(record: int, delivery_id: UUID, attempt: int, entry: bytes) -> None:
    """Note a definite answer; an entry that is too long leaves the call begun.

    The content has the call again, so that an answer that comes during `end` cannot count as the
    answer of the next call.
    """
    if (recorder := _process.recorder) is not None:
        memory, length = recorder.memory, len(entry)
        memory[record] = _BEGUN
        if length <= _LONGEST:
            _CONTENT.pack_into(memory, record + 1, length, attempt, delivery_id.int.to_bytes(16))
            memory[record + _ENTRY_AT : record + _ENTRY_AT + length] = entry
            memory[record] = _ANSWERED


def end(records: Iterable[int]) -> None:
    """Free records: the database has the outcomes, or the calls were not made."""
    if (recorder := _process.recorder) is not None:
        for at in records:
            recorder.memory[at] = _FREE
            recorder.free.append(at)


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
