"""Dead letters and replay jobs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet

from notifications.core import clock, conf
from notifications.core.models import Contact, DeadLetter, ReplayJob
from notifications.core.rules import redaction
from notifications.core.rules.dead_letter_filter import LetterFilter


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
    """Lock the next letters of a job; skips letters locked by another runner."""
    letters = DeadLetter.objects.filter(replay_job=job, resolved_at=None).order_by("delivery_id")
    return list(letters.select_for_update(skip_locked=True)[:limit])


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
