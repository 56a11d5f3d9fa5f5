"""Reads of inboxes for many recipients at once, as events; runs in a thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.db import Error, connection

from notifications.features.inbox.live import frames
from notifications.features.inbox.rows import json_of, reads
from notifications.features.inbox.rows.items import Changes, TooOld

T = TypeVar("T")
NEWEST: Final = 1 << 63
"""In place of the version of a client without a page; above every version of Postgres."""
MOST_CHANGES: Final = 50
"""Changed items of a recipient in one event. Page 1 has as many items: beyond this number a client
reads page 1."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The state of an inbox, and the event for a client at the version of the question."""

    version: int
    counts: Mapping[str, Any]
    event: bytes
    """Empty: the client is up to date."""


def answers(since: Mapping[int, int]) -> dict[int, Answer]:
    """Return the state of each inbox with the changes since a version, by recipient.

    Raises:
        django.db.Error: Postgres is away.
    """
    return closing_on_error(lambda: _answers(since))


def versions(recipient_ids: Collection[int]) -> Mapping[int, int]:
    """Return the inbox version of each recipient.

    Raises:
        django.db.Error: Postgres is away.
    """
    return closing_on_error(lambda: reads.versions(recipient_ids))


def _answers(since: Mapping[int, int]) -> dict[int, Answer]:
    known = {each: version for each, version in since.items() if version != NEWEST}
    changes = reads.changes(known, limit=MOST_CHANGES)
    return {each: _answer(each, version, changes.get(each)) for each, version in since.items()}


def _answer(recipient_id: int, since: int, changes: Changes | TooOld | None) -> Answer:
    if isinstance(changes, Changes):
        counts = json_of.counts(changes.counts)
        if changes.version == since:
            return Answer(since, counts, b"")
        event = frames.changes(
            changes.version,
            items=[json_of.item(each) for each in changes.items],
            removed=changes.removed,
            counts=counts,
        )
        return Answer(changes.version, counts, event)
    present = reads.counts(recipient_id)
    counts = json_of.counts(present)
    event = b"" if since == NEWEST else frames.reset(present.version, counts)
    return Answer(present.version, counts, event)


def closing_on_error(work: Callable[[], T]) -> T:
    """Run `work`; after an error of the database the thread gets a new connection.

    Raises:
        django.db.Error: as `work`.
    """
    try:
        return work()
    except Error:
        connection.close()
        raise
