"""Dead letters, their causes with counts of the last hours, and replay jobs."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet

from notifications.core import clock, conf
from notifications.core.models import Contact, DeadLetter, ReplayJob
from notifications.core.rules import redaction
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import db
from providers.contract import Channel

CAUSES_COUNTED: Final = 20_000
"""Upper bound of the counted dead letters."""
CAUSE_HOURS: Final = 24
"""Hours with a count of their own; older dead letters are in the total only."""


def narrow(letters: QuerySet[DeadLetter], wanted: LetterFilter) -> QuerySet[DeadLetter]:
    """Narrow letters, open or resolved, by a filter."""
    conditions = {
        "pk__in": wanted.ids,
        "reason": wanted.reason or None,
        "channel": wanted.channel,
        "provider": wanted.provider or None,
        "created_at__gte": wanted.since,
        "created_at__lt": wanted.until,
        "producer_id": wanted.producer_id,
        "mode": wanted.mode,
    }
    return letters.filter(**{
        name: value for name, value in conditions.items() if value is not None
    })


def with_open_dead_letters(contacts: QuerySet[Contact]) -> QuerySet[Contact]:
    """Annotate contacts with `needs_check`: an open dead letter was to reach the contact."""
    letters = DeadLetter.objects.filter(contact_id=OuterRef("pk"), resolved_at=None)
    return contacts.annotate(needs_check=Exists(letters))


def address_hashes(letters: Sequence[DeadLetter]) -> dict[int, str]:
    """Return letter id -> address hash, in the form of the call logs.

    A letter with an erased contact is missing.
    """
    wanted = {letter.contact_id for letter in letters if letter.contact_id}
    found = Contact.objects.filter(pk__in=wanted).values_list("pk", "address")
    key = conf.current().hash_key
    hashes = {contact: redaction.address_hash(address, key=key) for contact, address in found}
    return {
        letter.pk: hashes[letter.contact_id] for letter in letters if letter.contact_id in hashes
    }


def matching(wanted: LetterFilter) -> QuerySet[DeadLetter]:
    """Return the open letters that match and belong to no replay job."""
    return narrow(DeadLetter.objects.filter(resolved_at=None, replay_job=None), wanted)


def next_of(job: ReplayJob, *, limit: int) -> list[DeadLetter]:
    """Lock the next letters of a job; skips letters locked by another runner.

    Uses dead_letter_of_job, so a batch reads no letters behind it, however large the job is.
    """
    letters = DeadLetter.objects.filter(replay_job=job, resolved_at=None).order_by("delivery_id")
    return list(letters.select_for_update(skip_locked=True)[:limit])


def lock_of(job: ReplayJob, letter_id: int) -> list[DeadLetter]:
    """Lock a letter of a job; empty: another runner has locked or processed it.

    Searched by the primary key alone: just after the start of a job the statistics do not know the
    job, and PostgreSQL would read all letters of the job for one.
    """
    found = DeadLetter.objects.filter(pk=letter_id).select_for_update(skip_locked=True)
    return [each for each in found if each.replay_job_id == job.pk and each.resolved_at is None]


def leave_job(letter: DeadLetter) -> None:
    """Take an open letter out of its replay job; the letter stays open."""
    DeadLetter.objects.filter(id=letter.id, resolved_at=None).update(replay_job=None)


def resolve(letters: Sequence[DeadLetter], resolution: str) -> int:
    """Close open letters; returns how many."""
    return DeadLetter.objects.filter(
        id__in=[letter.id for letter in letters], resolved_at=None
    ).update(resolved_at=clock.now(), resolution=resolution)


def resolve_of(delivery_ids: Collection[UUID], resolution: str) -> int:
    """Close the open letters of deliveries; returns how many. Uses the unique open letter."""
    if not delivery_ids:
        return 0
    letters = DeadLetter.objects.filter(delivery_id__in=delivery_ids, resolved_at=None)
    return letters.update(resolved_at=clock.now(), resolution=resolution)


def count(job: ReplayJob, *, replayed: int, skipped: int) -> None:
    """Add to a job's progress."""
    ReplayJob.objects.filter(id=job.id).update(
        replayed=F("replayed") + replayed, skipped=F("skipped") + skipped
    )


def discard_older_than(age: dt.timedelta, *, limit: int) -> int:
    """Delete letters past retention; returns how many."""
    old = DeadLetter.objects.filter(created_at__lt=clock.now() - age).values("id")[:limit]
    deleted, _ = DeadLetter.objects.filter(id__in=old).delete()
    return deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A group of dead letters."""

    mode: Mode
    reason: str
    channel: Channel
    letters: int
    providers: Mapping[str, int]
    """Provider -> letters; an empty name for letters without a provider."""
    by_hour: Sequence[int]
    """Letters of each of the last CAUSE_HOURS hours, oldest hour first."""
    oldest: dt.datetime
    newest: dt.datetime
    detail: str
    """Detail of one letter of the newest hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The groups, largest first."""

    groups: Sequence[Cause]
    letters: int
    is_capped: bool
    """More than CAUSES_COUNTED letters exist; the counts are lower bounds."""


@dataclass(slots=True)
class _Group:
    providers: Counter[str] = field(default_factory=Counter)
    hours: Counter[int] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)


def causes() -> Causes:
    """Return the groups of open dead letters that no replay job holds."""
    groups: dict[tuple[int, str, int], _Group] = {}
    for row in db.rows("dead_letter_causes", {"counted": CAUSES_COUNTED, "hours": CAUSE_HOURS}):
        group = groups.setdefault((row["mode"], row["reason"], row["channel"]), _Group())
        group.providers[row["provider"]] += row["letters"]
        group.hours[row["age"]] += row["letters"]
        group.rows.append(row)
    found = [_cause(key, group) for key, group in groups.items()]
    letters = sum(cause.letters for cause in found)
    return Causes(
        groups=sorted(found, key=lambda cause: (cause.mode, -cause.letters)),
        letters=letters,
        is_capped=letters >= CAUSES_COUNTED,
    )


def _cause(key: tuple[int, str, int], group: _Group) -> Cause:
    mode, reason, channel = key
    newest = max(group.rows, key=lambda row: row["newest"])
    return Cause(
        mode=Mode(mode),
        reason=reason,
        channel=Channel(channel),
        letters=group.providers.total(),
        providers=dict(group.providers.most_common()),
        by_hour=[group.hours[age] for age in reversed(range(CAUSE_HOURS))],
        oldest=min(row["oldest"] for row in group.rows),
        newest=newest["newest"],
        detail=newest["detail"],
    )
