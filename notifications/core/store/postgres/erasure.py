"""Erasing a person: at once the row, contacts and wishes; by a job all messages to the person.

Kept (`KEPT`): deliveries and attempts without an address, for counts and bills; entries of
the suppression list, because an opted-out address must stay out; entries of the audit log,
which cannot be changed; keys chosen by producers, until the expiry of the keys; the job.
`tests/features/test_erasure_everywhere.py` searches every table for the person.

Rows with only the user id, such as schedules, are changed at once, because the job has no user id.

The recipient's archive key is deleted at once, so the personal values in the files of the archive
are unreadable from then on. The job deletes the key again at its end, because an export at the same
time may have stored a new key; later no erased recipient gets a key. A job waits while a day is
frozen: the rows of the day are out of reach until the day is dropped. At the end the job writes a
signed receipt.
"""

from __future__ import annotations

import datetime as dt
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import F, QuerySet

from notifications.core import feature
from notifications.core.models import (
    ArchiveKey,
    Audience,
    BulkJob,
    DeadLetter,
    ErasureJob,
    Inbox,
    Recipient,
    RecipientList,
    Rejected,
    Schedule,
)
from notifications.core.rules import stored_audiences
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient import PREFIX
from notifications.core.store.postgres import (
    alerts,
    audit,
    db,
    device_owners,
    merged_recipients,
    partitions,
    secret_variables,
    token_revocations,
)

KEPT: Final = (
    "deliveries and attempts without an address",
    "attachments that other recipients got too, until their erasure or the end of retention",
    "attachments of more than ten recipients, until the end of retention",
    "entries of the suppression list",
    "entries of the audit log, until their retention is over",
    "idempotency keys with their answers, for 24 hours, and ordering keys, for a day",
    "encrypted values in the archive, whose key is deleted",
    "backups of the database, until the backups are deleted",
)
"""Places that an erasure leaves, as the receipt names them."""
_REQUESTED_BY: Final = 128
"""Characters of `ErasureJob.requested_by`."""
_ITEMS: Final = 2_000
"""Inbox items of a transaction."""
_GRACE: Final = dt.timedelta(minutes=1)
"""A request that was being accepted while its recipient was erased has stored its rows by then."""


def begin(*, mode: Mode, user_id: str, requested_by: str, by: str) -> ErasureJob | None:
    """Delete a recipient and create the erasure job; None: the recipient does not exist.

    Recipients merged with the recipient are erased too, by jobs of the same kind. `requested_by` is
    the user name of an operator or the prefix of a key, `by` the actor in the audit log.
    """
    with transaction.atomic():
        if user_id.startswith(PREFIX):
            merged_recipients.hold_alone()
        # A change of a schedule locks the schedule before the recipient.
        list(_schedules(mode, user_id))
        recipient = Recipient.objects.select_for_update().filter(mode=mode, user_id=user_id).first()
        if recipient is None:
            return None
        stays = merged_recipients.survivor_of(recipient)
        others = {*merged_recipients.sources_of(stays), stays} - {recipient}
        _erase_in_features([recipient.pk, *(each.pk for each in others)])
        for each in others:
            _begin(each, requested_by=requested_by, by=by)
        return _begin(recipient, requested_by=requested_by, by=by)


def _begin(recipient: Recipient, *, requested_by: str, by: str) -> ErasureJob:
    mode, user_id = Mode(recipient.mode), recipient.user_id
    with transaction.atomic():
        device_owners.lock(recipient)
        job = ErasureJob.objects.create(
            mode=mode,
            recipient_id=recipient.pk,
            requested_by=requested_by[:_REQUESTED_BY],
            contacts=recipient.contacts.count(),
            archive_keys=_delete_archive_key(recipient.pk),
        )
        Rejected.objects.filter(user_id=user_id).update(user_id="")
        _delete_schedules(mode, user_id, by)
        contacts = dict(recipient.contacts.values_list("pk", "address"))
        db.run("erase_contact_messages", {"contacts": list(contacts)})
        db.run("erase_cancel_filters", {"mode": mode, "values": [user_id, *contacts.values()]})
        _leave_log_of_admin(recipient)
        token_revocations.revoke([recipient.pk])
        db.rows("audience_erase", {"recipient": recipient.pk})
        _leave_audiences(mode, user_id)
        recipient.delete()
    return job


def _erase_in_features(recipients: Sequence[int]) -> None:
    """Lock recipients, and let the features erase rows that no foreign key deletes."""
    list(Recipient.objects.select_for_update().filter(pk__in=recipients).order_by("pk"))
    for erase in feature.functions("erasures"):
        erase(recipients)


def _delete_archive_key(recipient_id: int) -> int:
    """Delete the key of a recipient's data in the archive; returns 1, or 0 without a key."""
    return ArchiveKey.objects.filter(pk=recipient_id).delete()[0]


def _leave_log_of_admin(recipient: Recipient) -> None:
    """Delete the entries of Django's log, which have the user id and no retention."""
    entries = LogEntry.objects.filter(object_id=str(recipient.pk))
    entries.filter(content_type=ContentType.objects.get_for_model(Recipient)).delete()


def _schedules(mode: Mode, user_id: str) -> QuerySet[Schedule]:
    """Return the schedules for a recipient, to be locked in the order of their ids."""
    found = Schedule.objects.filter(mode=mode, request__user_id=user_id)
    return found.select_for_update(of=("self",)).order_by("pk")


def _delete_schedules(mode: Mode, user_id: str, by: str) -> None:
    """Delete the schedules for a recipient; the audit log has no notifications of schedules."""
    for each in _schedules(mode, user_id):
        audit.record(by, "erase_recipient", each, after={"deleted": True})
        alerts.resolve(AlertKind.SCHEDULE_FAILED, str(each.pk))
        each.delete()


def _leave_audiences(mode: Mode, user_id: str) -> None:
    """Remove a user id from the audiences of bulk jobs, saved audiences and snapshots."""
    parameters = {"mode": mode, "user_id": user_id}
    for row in db.rows("audiences_with_user", parameters):
        left = stored_audiences.without_user(orjson.loads(row["expression"]), user_id)
        if row["bulk_job"]:
            BulkJob.objects.filter(id=row["bulk_job"]).update(audience=left)
        elif row["audience"]:
            Audience.objects.filter(id=row["audience"]).update(expression=left)
        else:
            RecipientList.objects.filter(id=row["snapshot"]).update(expression=left)


def open_jobs(*, limit: int) -> list[ErasureJob]:
    """Return the oldest jobs without a receipt."""
    return list(ErasureJob.objects.filter(receipt__isnull=True).order_by("id")[:limit])


def erase_inbox(recipient_id: int) -> int:
    """Delete the rows of a recipient's inbox; returns the number of items. Safe to run twice.

    For an installation without the app of the inbox: copies of an inbox in the state Redis stay
    (`feature.Feature.inbox_erasures`).
    """
    values = {"recipient": recipient_id, "limit": _ITEMS}
    total, count = 0, _ITEMS
    while count >= _ITEMS:
        count = db.in_transaction(lambda: db.rows("inbox_erase", values))[0]["count"]
        total += count
    Inbox.objects.filter(pk=recipient_id).delete()
    return total


def work_off(job: ErasureJob, *, now: dt.datetime, limit: int, inbox_items: int = 0) -> int:
    """Remove up to so many notifications of a job; returns how many. Safe to run twice.

    Args:
        job: an open job.
        now: the present.
        limit: notifications.
        inbox_items: items that the caller has erased from the inbox of the recipient since the last
            call (`erase_inbox`).
    """
    parameters = {"recipient": job.recipient_id, "limit": limit}

    def work() -> int:
        db.rows("audience_erase", {"recipient": job.recipient_id})  # an upload may have been open
        removed = len(db.rows("erase_notifications", parameters))
        letters = DeadLetter.objects.filter(mode=job.mode, recipient_id=job.recipient_id)
        emptied = letters.exclude(snapshot={}).update(snapshot={}, detail="")
        letters.filter(resolved_at=None).update(resolved_at=now, resolution="recipient erased")
        same = ErasureJob.objects.filter(pk=job.pk, receipt__isnull=True)
        same.update(
            notifications=F("notifications") + removed,
            dead_letters=F("dead_letters") + emptied,
            inbox_items=F("inbox_items") + inbox_items,
            archive_keys=F("archive_keys") + _delete_archive_key(job.recipient_id),
        )
        if (
            not removed
            and not inbox_items
            and now - job.created_at > _GRACE
            and not partitions.frozen()
        ):
            _finish(same, now)
        return removed

    return db.in_transaction(work)


def _finish(same: QuerySet[ErasureJob], now: dt.datetime) -> None:
    """Write the receipt, once."""
    job = same.select_for_update().first()
    if job is None:
        return
    job.receipt = {
        "job_id": job.pk,
        "mode": Mode(job.mode).label,
        "recipient_id": job.recipient_id,
        "requested_by": job.requested_by,
        "requested_at": job.created_at.isoformat(),
        "erased_at": now.isoformat(),
        "erased": {
            "contacts": job.contacts,
            "notifications": job.notifications,
            "inbox_items": job.inbox_items,
            "dead_letters": job.dead_letters,
            "archive_keys": job.archive_keys,
        },
        "kept": list(KEPT),
    }
    job.receipt_signature = sign(job.receipt)[0]
    job.finished_at = job.finished_at or now
    job.save(update_fields=["receipt", "receipt_signature", "finished_at"])


def sign(receipt: Mapping[str, Any]) -> list[str]:
    """Return the HMAC-SHA256 of a receipt under each encryption key, the current key first."""
    text = orjson.dumps(receipt, option=orjson.OPT_SORT_KEYS)
    keys = secret_variables.derive(b"erasure-receipt")
    return [hmac.digest(key, text, "sha256").hex() for key in keys]


def is_genuine(job: ErasureJob) -> bool:
    """Return True if the receipt of a job is as the service wrote the receipt."""
    return job.receipt is not None and any(
        hmac.compare_digest(job.receipt_signature, each) for each in sign(job.receipt)
    )
