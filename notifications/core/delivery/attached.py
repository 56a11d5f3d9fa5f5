"""Attachments of e-mails: read for the calls of a wave, within a limit of memory.

    take       the deliveries whose attachments fit into the memory of the process
    attach     the message of a delivery with the contents of its attachments
    release    returns the memory after the calls

The contents of all calls in flight of a process take at most MOST_BYTES, whatever the size of the
batch: a delivery whose attachments do not fit waits in the task for the end of other calls. A
single delivery always fits. A delivery without attachments takes no memory and costs no query.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
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
"""Bytes of contents. An adapter needs about three times as much for the encoded mails."""
_LOOK_AGAIN: Final = 0.05
"""Seconds after which a task without calls in flight looks again for memory."""
CONTENTS: Final[Sequence[Callable[[Iterable[UUID]], Mapping[UUID, bytes]]]] = (
    *function_at(Place.ATTACHMENT_CONTENTS),
)


class Memory:
    """Counts the bytes of contents in the memory of the process. Thread-safe."""

    def __init__(self, most: int) -> None:
        """Start with no bytes in use; `most` is the limit."""
        self._most = most
        self._used = 0
        self._changed = threading.Condition()

    @property
    def used(self) -> int:
        """Bytes in use."""
        return self._used

    def take(self, size: int) -> bool:
        """Take bytes if they fit, or if no bytes are in use."""
        with self._changed:
            if self._used and self._used + size > self._most:
                return False
            self._used += size
            return True

    def give_back(self, size: int) -> None:
        """Return bytes, and wake the waiting tasks."""
        with self._changed:
            self._used -= size
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until bytes come back, at most so long."""
        with self._changed:
            self._changed.wait(seconds)


_memory = Memory(MOST_BYTES)


def take(
    waiting: deque[ClaimedDelivery], count: int, *, has_calls: bool, memory: Memory | None = None
) -> list[ClaimedDelivery]:
    """Take up to `count` deliveries whose attachments fit; the others stay in their order.

    Args:
        waiting: the deliveries, changed in place.
        count: most deliveries.
        has_calls: the task has calls in flight, so the task looks again after their outcomes.
        memory: the memory; None: that of the process.
    """
    memory = memory or _memory
    taken: list[ClaimedDelivery] = []
    kept: list[ClaimedDelivery] = []
    while waiting and len(taken) < count:
        claimed = waiting.popleft()
        size = claimed.attachment_bytes if claimed.notification.attachments else 0
        if not size or memory.take(size):
            claimed.held_bytes = size
            taken.append(claimed)
        else:
            kept.append(claimed)
    waiting.extendleft(reversed(kept))
    if kept and not taken and not has_calls:
        memory.wait(_LOOK_AGAIN)
    return taken


def release(deliveries: Iterable[ClaimedDelivery], *, memory: Memory | None = None) -> None:
    """Return the memory that deliveries hold; a second call changes nothing."""
    for claimed in deliveries:
        if claimed.held_bytes:
            (memory or _memory).give_back(claimed.held_bytes)
            claimed.held_bytes = 0


def contents(deliveries: Iterable[ClaimedDelivery]) -> Mapping[UUID, bytes]:
    """Read the contents of the attachments of deliveries, each once; no query without any."""
    wanted = {
        each.id
        for claimed in deliveries
        if claimed.notification.attachments
        for each in claimed.attachments
    }
    found: dict[UUID, bytes] = {}
    if wanted:
        for read in CONTENTS:
            found |= read(wanted)
    return found


def attach(claimed: ClaimedDelivery, message: Message, files: Mapping[UUID, bytes]) -> Message:
    """Return the message with the attachments of the delivery.

    Raises:
        RenderError: a file was deleted; a retry would fail as well.
    """
    named = claimed.attachments
    if not named:
        return message
    if gone := [each.digest[:12] for each in named if each.id not in files]:
        said = "the service no longer has the attachment with the SHA-256 digest"
        raise RenderError(f"{said} {', '.join(gone)}...; upload the file and send anew")
    return replace(message, attachments=tuple(_part(each, files[each.id]) for each in named))


def _part(named: attachments.Attachment, content: bytes) -> Attachment:
    return Attachment(
        name=named.name, media_type=named.type, content=content, inline_id=named.inline_id
    )


def forget() -> None:
    """Reset in the child of a fork: the parent's calls do not exist in the child."""
    global _memory  # noqa: PLW0603 - replaced as a whole, as the lock cannot be released here
    _memory = Memory(MOST_BYTES)


os.register_at_fork(after_in_child=forget)
