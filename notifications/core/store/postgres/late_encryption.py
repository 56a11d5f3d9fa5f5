"""Late encryption: encrypts values stored before a template version declared a variable sensitive.

Accept encrypts sensitive variables. A recurring schedule, a notification for later and a dead
letter can be older than the declaration. Publishing a version encrypts the values of bulk jobs, and
creates a job. A minute later, when no process accepts with the former version any more, the job
removes the plain values from

    schedules        the values move to `secrets`; API and admin show a mask
    notifications    the values move to `secrets`, and are wiped with the other secrets
    dead letters     the values are removed; a replay uses the values of the notification

A second run changes nothing, and a killed run continues. The template's history shows the result.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q

from notifications.core import clock
from notifications.core.models import BulkJob, Schedule, SealingJob, Template, TemplateEvent
from notifications.core.rules import ids
from notifications.core.rules.sensitive import MASK, Sensitive
from notifications.core.store.postgres import db, secret_variables

_GRACE: Final = dt.timedelta(minutes=1)
"""Delay after publishing; requests accepted with the former version have stored their rows by then.
"""
_SEALED: Final = TemplateEvent.Verb.SEALED


def begin(version: Template, names: Collection[str]) -> None:
    """Encrypt variables of bulk jobs that become sensitive, and create the job for other rows."""
    if names:
        _encrypt_bulk_jobs(version.template_id, names)
        SealingJob.objects.create(
            template_id=version.template_id,
            version=version.version,
            names=sorted(names),
            created_at=clock.now(),
        )


def work_off(*, limit: int) -> int:
    """Process up to `limit` rows of the oldest due job.

    Returns `limit` while the job has further rows, else the number of processed rows.
    """
    with transaction.atomic():
        waiting = SealingJob.objects.select_for_update(skip_locked=True)
        due = waiting.filter(finished_at=None, created_at__lte=clock.now() - _GRACE)
        job = due.order_by("id").first()
        return _step(job, limit) if job else 0


def body_of(schedule: Schedule) -> dict[str, Any]:
    """Return the notification of a schedule with decrypted variables.

    Raises:
        cryptography.fernet.InvalidToken: none of the configured keys can decrypt the variables.
    """
    return _with(schedule, _decrypt(schedule.secrets))


def body_with_masks(schedule: Schedule) -> dict[str, Any]:
    """Return the notification of a schedule with a mask for each encrypted variable."""
    return _with(schedule, dict.fromkeys(schedule.sealed_names, MASK))


def _with(schedule: Schedule, hidden: Mapping[str, object]) -> dict[str, Any]:
    body: dict[str, Any] = schedule.request
    return {**body, "variables": {**body["variables"], **hidden}} if hidden else body


def _decrypt(secrets: bytes | memoryview | None) -> dict[str, Any]:
    return {} if secrets is None else secret_variables.decrypt(bytes(secrets)).reveal()


def _step(job: SealingJob, limit: int) -> int:
    if sealed := _encrypt_schedules(job, limit):
        SealingJob.objects.filter(pk=job.pk).update(schedules=F("schedules") + sealed)
        return limit
    if _encrypt_notifications(job, limit):
        return limit
    letters = {"template_id": job.template_id, "names": job.names, "limit": limit}
    sealed = db.run("seal_dead_letters", letters)
    SealingJob.objects.filter(pk=job.pk).update(dead_letters=F("dead_letters") + sealed)
    if sealed >= limit:
        return limit
    _finish(job)
    return sealed


def _encrypt_schedules(job: SealingJob, limit: int) -> int:
    wanted = Schedule.objects.filter(
        request__template_id=job.template_id, request__variables__has_any_keys=job.names
    )
    rows = list(wanted.select_for_update().order_by("id")[:limit])
    for each in rows:
        variables = each.request["variables"]
        each.secrets, hidden = _encrypt_with(each.secrets, variables, job.names)
        left = {name: value for name, value in variables.items() if name not in hidden}
        each.request = {**each.request, "variables": left}
        each.sealed_names = sorted({*each.sealed_names, *hidden})
        each.save(update_fields=["secrets", "request", "sealed_names"])
    return len(rows)


def _encrypt_notifications(job: SealingJob, limit: int) -> int:
    """Encrypt variables of the next notifications of a job; return the number of processed rows."""
    end = job.created_at + _GRACE
    page = db.rows(
        "sealing_page",
        {
            "versions": _versions(job),
            "names": job.names,
            "position": job.position or ids.floor_of(dt.date(1970, 1, 1)),
            "ceiling": ids.notification_id(at_ms=int(end.timestamp() * 1000), entropy=0),
            "limit": limit,
        },
    )
    if not page:
        return 0
    clear = [row["id"] for row in page if row["is_clear"]]
    rows = db.rows("lock_clear", {"ids": clear, "names": job.names}) if clear else []
    sealed = [_encrypt_with(row["secrets"], row["variables"], job.names)[0] for row in rows]
    if rows:
        changed = {"ids": [row["id"] for row in rows], "sealed": sealed, "names": job.names}
        db.run("seal_notifications", changed)
    SealingJob.objects.filter(pk=job.pk).update(
        position=page[-1]["id"], notifications=F("notifications") + len(rows)
    )
    return len(page)


def _encrypt_bulk_jobs(template_id: str, names: Collection[str]) -> None:
    """Encrypt variables of bulk jobs, so that later pages store no plain value.

    Pages that began before are covered by the job, which comes a minute later.
    """
    own = Q(template_id=template_id) | Q(variants__contains=[{"template_id": template_id}])
    named = BulkJob.objects.filter(own, variables__has_any_keys=list(names))
    for each in named.select_for_update(no_key=True).order_by("id"):
        if each.finished_at is None:
            each.secrets, _ = _encrypt_with(each.secrets, each.variables, names)
        each.variables = {key: value for key, value in each.variables.items() if key not in names}
        each.save(update_fields=["secrets", "variables"])


def _encrypt_with(
    secrets: bytes | memoryview | None, variables: Mapping[str, Any], names: Collection[str]
) -> tuple[bytes, frozenset[str]]:
    """Encrypt plain variables with the encrypted variables; also return the moved names."""
    hidden = {name: variables[name] for name in names if name in variables}
    return secret_variables.encrypt(Sensitive({**_decrypt(secrets), **hidden})), frozenset(hidden)


def _versions(job: SealingJob) -> list[int]:
    every = Template.objects.filter(template_id=job.template_id)
    return list(every.values_list("pk", flat=True))


def _finish(job: SealingJob) -> None:
    job.refresh_from_db()
    SealingJob.objects.filter(pk=job.pk).update(finished_at=clock.now())
    counts = f"{job.schedules} schedules, {job.notifications} notifications"
    detail = f"{', '.join(job.names)}: {counts}, {job.dead_letters} dead letters"
    TemplateEvent.objects.create(
        template_id=job.template_id,
        version=job.version,
        verb=_SEALED,
        by="housekeeping",
        detail=detail[:200],
    )
