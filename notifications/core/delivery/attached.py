"""Attachments of e-mails: read for the calls of a wave, within a limit of memory.

    reserve    memory for the first delivery of a task, before the permits of the calls
    take       the deliveries of a wave: as many as the memory of the process has room for
    attach     the message of a delivery with the contents of its attachments
    release    returns the memory after the calls
    leave      ends the waiting of a task

The contents of all calls in flight of a process take at most MOST_BYTES, whatever the size of the
batch. A single delivery always fits. A delivery without attachments takes no memory and costs no
query.

A task whose deliveries do not fit waits in a line, without permits. The first task of the line gets
the next memory, and meanwhile no other task gets any, however small its deliveries are: so a large
delivery gets its turn after the calls that are in flight.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.gate import Place, function_at
from notifications.core.rules import attachments
from notifications.core.rules.language.templating import RenderError
from providers.contract import Message
from providers.message_parts import Attachment

MOST_BYTES: Final = 32_000_000
"""Bytes of contents. Encoded mails take twice as much at SES, three times at SMTP, and six times at
the services of anymail."""
_LOOK_AGAIN: Final = 0.05
"""Seconds after which a task without calls in flight looks again for memory."""
_HELD_FOR: Final = 2.0
"""Seconds for which a task keeps memory while it waits for permits: a provider that hangs must not
keep the memory from the deliveries of other providers. The task keeps its place for permits."""
_WITHOUT_LIMIT: Final = float("inf")
CONTENTS: Final[Sequence[Callable[[Iterable[UUID]], Mapping[UUID, bytes]]]] = (
    *function_at(Place.ATTACHMENT_CONTENTS),
)


class Memory:
    """Counts the bytes of contents in the memory of the process. Thread-safe.

    Tasks that wait for bytes stand in a line: P0 and P1 before P2 and P3, and then in the order of
    their arrival.
    """

    def __init__(self, most: int) -> None:
        """Start with no bytes in use; `most` is the limit."""
        self._most = most
        self._used = 0
        self._urgent: deque[object] = deque()
        self._patient: deque[object] = deque()
        self._changed = threading.Condition()

    @property
    def used(self) -> int:
        """Bytes in use."""
        return self._used

    @property
    def waiting(self) -> int:
        """Tasks in the line."""
        return len(self._urgent) + len(self._patient)

    def take(self, size: int, *, task: object, is_urgent: bool, waits: bool) -> bool:
        """Take bytes if no other task waits before, and if they fit or no bytes are in use.

        A task that takes bytes leaves the line. A task that gets no bytes joins the line if it
        `waits`, and keeps its place until it takes bytes or leaves.
        """
        with self._changed:
            line = self._urgent if is_urgent else self._patient
            first = next(iter((*self._urgent, *line)), task)
            if first is task and (not self._used or self._used + size <= self._most):
                self._used += size
                self._leave(task)
                return True
            if waits and task not in line:
                line.append(task)
            return False

    def give_back(self, size: int) -> None:
        """Return bytes, and wake the waiting tasks."""
        with self._changed:
            self._used -= size
            self._changed.notify_all()

    def leave(self, task: object) -> None:
        """Remove a task from the line; a task outside of the line changes nothing."""
        with self._changed:
            self._leave(task)

    def _leave(self, task: object) -> None:
        for line in (self._urgent, self._patient):
            if task in line:
                line.remove(task)
                self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until bytes come back or the line changes, at most so long."""
        with self._changed:
            self._changed.wait(seconds)


_memory = Memory(MOST_BYTES)


def reserve(waiting: Sequence[ClaimedDelivery], *, task: object, has_calls: bool) -> float:
    """Take memory for the first delivery of a task, unless a delivery needs none.

    Returns the seconds for which the task may wait for permits; 0: no delivery can leave now.

    Args:
        waiting: the deliveries of the task.
        task: the task, by its identity.
        has_calls: the task has calls in flight, so the task looks again after their outcomes;
            without calls in flight the function waits a moment for memory.
    """
    if any(not each.notification.attachments for each in waiting):
        return _WITHOUT_LIMIT
    first = waiting[0]
    if not _takes(first, task=task, waits=True):
        if not has_calls:
            _memory.wait(_LOOK_AGAIN)
        return 0.0
    return _HELD_FOR if first.held_bytes else _WITHOUT_LIMIT


def take(waiting: deque[ClaimedDelivery], count: int, *, task: object) -> list[ClaimedDelivery]:
    """Take up to `count` deliveries whose attachments fit; the others stay in their order."""
    taken: list[ClaimedDelivery] = []
    kept: list[ClaimedDelivery] = []
    while waiting and len(taken) < count:
        claimed = waiting.popleft()
        if not claimed.notification.attachments:
            taken.append(claimed)
            continue
        # Behind a delivery that does not fit, only deliveries without attachments leave.
        fits = not kept and _takes(claimed, task=task)
        (taken if fits else kept).append(claimed)
    waiting.extendleft(reversed(kept))
    return taken


def _takes(claimed: ClaimedDelivery, *, task: object, waits: bool = False) -> bool:
    """Take the memory of a delivery, once; returns True if the delivery can leave."""
    if not claimed.notification.attachments or claimed.held_bytes:
        return True
    size, is_urgent = claimed.attachment_bytes, claimed.delivery.priority.is_urgent
    if size and not _memory.take(size, task=task, is_urgent=is_urgent, waits=waits):
        return False
    claimed.held_bytes = size
    return True


def leave(task: object) -> None:
    """End the waiting of a task for memory."""
    _memory.leave(task)


def release(deliveries: Iterable[ClaimedDelivery]) -> None:
    """Return the memory that deliveries hold; a second call changes nothing."""
    for claimed in deliveries:
        if claimed.held_bytes:
            _memory.give_back(claimed.held_bytes)
            claimed.held_bytes = 0


def contents(deliveries: Iterable[ClaimedDelivery]) -> Mapping[UUID, bytes]:
    """Read the contents of the attachments of deliveries, each once; no query without any."""
    wanted = {
        each.id
        for claimed in deliveries
        if claimed.notification.attachments
        for each in claimed.attachments
    }
    return _read(wanted) if wanted else {}


def content_of(named: attachments.Attachment) -> bytes | None:
    """Return the content of an attachment, for an operator; None: the file was deleted."""
    return _read({named.id}).get(named.id)


def _read(wanted: Collection[UUID]) -> Mapping[UUID, bytes]:
    found: dict[UUID, bytes] = {}
    for read in CONTENTS:
        found |= read(wanted)
    return found


def attach(claimed: ClaimedDelivery, message: Message, files: Mapping[UUID, bytes]) -> Message:
    """Return the message with the attachments of the delivery.

    Raises:
        RenderError: a file was deleted; a retry would fail as well.
    """
    named = claimed.attachments
    return replace(message, attachments=_parts(named, files)) if named else message


def parts_of(named: Sequence[attachments.Attachment]) -> tuple[Attachment, ...]:
    """Read the contents of attachments, and return the parts of a message.

    Raises:
        RenderError: a file was deleted.
    """
    return _parts(named, _read({each.id for each in named})) if named else ()


def _parts(
    named: Sequence[attachments.Attachment], files: Mapping[UUID, bytes]
) -> tuple[Attachment, ...]:
    if gone := [each.digest[:12] for each in named if each.id not in files]:
        said = "the service no longer has the attachment with the SHA-256 digest"
        raise RenderError(f"{said} {', '.join(gone)}...; upload the file and send anew")
    return tuple(_part(each, files[each.id]) for each in named)


def _part(named: attachments.Attachment, content: bytes) -> Attachment:
    return Attachment(
        name=named.name, media_type=named.type, content=content, inline_id=named.inline_id
    )


def forget() -> None:
    """Reset in the child of a fork: the parent's calls do not exist in the child."""
    global _memory  # noqa: PLW0603 - replaced as a whole, as the lock cannot be released here
    _memory = Memory(MOST_BYTES)


os.register_at_fork(after_in_child=forget)
