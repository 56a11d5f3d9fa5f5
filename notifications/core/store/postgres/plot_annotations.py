"""Annotations: changes with their times, drawn into the plots of operators.

    deploy       `migrate` ran as another release
    template     a version was published or rolled back to
    breaker      a circuit breaker opened or closed, by calls or by an operator
    switch       an operator held or resumed deliveries
    settings     an operator changed a route, a rate limit, a type, a periodic task ...

At most MOST annotations of each kind are read, the newest first.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from notifications.core.models import (
    AuditEntry,
    BreakerEvent,
    BulkJob,
    Deploy,
    Switch,
    TemplateEvent,
)
from notifications.core.rules.bulk_job import STOPPED
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import locks

MOST: Final = 100
_READ: Final = 1_000
"""Template events that are read at most: drafts and edits are no annotations."""
_SETTINGS: Final = (
    *("providerroute", "providerpace", "notificationtype", "retrypreset", "periodictask"),
    "schedule",
)
"""Object types of audit entries about settings."""
_SAME_CHANGE: Final = dt.timedelta(seconds=5)
"""A cancellation sets its switch within this time."""
_PAGES: Final = frozenset({SwitchKind.PROVIDER, SwitchKind.TEMPLATE})
"""Switches whose annotations are drawn on the page of a provider or template, and on Overview."""
_PUBLISHED: Final = frozenset({TemplateEvent.Verb.PUBLISHED, TemplateEvent.Verb.ROLLED_BACK})


class Kind(StrEnum):
    """The kinds of annotations."""

    DEPLOY = "deploy"
    TEMPLATE = "template"
    BREAKER = "breaker"
    SWITCH = "switch"
    SETTINGS = "settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A change at an instant."""

    at: dt.datetime
    kind: Kind
    label: str
    """A few words for a plot."""
    detail: str = ""
    """Operator and reason."""
    subject: str = ""
    """Template, or provider and channel; empty for a change that concerns everything."""


def within(since: dt.datetime, until: dt.datetime) -> list[Annotation]:
    """Return the annotations of a time, newest first."""
    found = [
        *_deploys(since, until),
        *_templates(since, until),
        *_breakers(since, until),
        *_switches(since, until),
        *_settings(since, until),
    ]
    return sorted(found, key=lambda each: each.at, reverse=True)


def record_deploy(release: str) -> None:
    """Write a row if the release differs from the last row's; an empty release writes none.

    Of two processes at the same time one writes; running twice, late or never is safe.
    """
    if not release or not locks.try_for_transaction("deploy"):
        return
    last = Deploy.objects.first()
    if last is None or last.release != release:
        Deploy.objects.create(release=release)


def _deploys(since: dt.datetime, until: dt.datetime) -> Iterator[Annotation]:
    for row in Deploy.objects.filter(at__range=(since, until))[:MOST]:
        yield Annotation(at=row.at, kind=Kind.DEPLOY, label=f"Release {row.release}")


def _templates(since: dt.datetime, until: dt.datetime) -> Iterator[Annotation]:
    for row in TemplateEvent.objects.all()[:_READ]:
        if since <= row.at <= until and row.verb in _PUBLISHED:
            label = f"{row.template_id} v{row.version} {row.verb}"
            yield Annotation(
                at=row.at,
                kind=Kind.TEMPLATE,
                label=label,
                detail=f"by {row.by}",
                subject=row.template_id,
            )


def _breakers(since: dt.datetime, until: dt.datetime) -> Iterator[Annotation]:
    rows = BreakerEvent.objects.filter(at__range=(since, until))
    for row in rows.exclude(kind=BreakerEvent.Kind.PROBED)[:MOST]:
        pair = f"{row.provider} {row.get_channel_display()}"
        label = f"{pair} {_BREAKER_WORDS.get(row.kind, row.kind)}"
        yield Annotation(at=row.at, kind=Kind.BREAKER, label=label, detail=row.detail, subject=pair)


def _switches(since: dt.datetime, until: dt.datetime) -> Iterator[Annotation]:
    rows = list(Switch.objects.all()[:MOST])
    ids = [row.value for row in rows if row.kind == SwitchKind.BULK_JOB]
    jobs = {str(job.pk): job for job in BulkJob.objects.filter(pk__in=ids)}
    for row in rows:
        job = jobs.get(row.value)
        name = job.name if job else row.value
        subject = " ".join(filter(None, [name, row.get_channel_display() or ""]))
        label = f"{row.kind.replace('_', ' ').capitalize()} {subject}"
        for at, verb, detail in _changes_of_switch(row, job):
            if at is not None and since <= at <= until:
                yield Annotation(
                    at=at,
                    kind=Kind.SWITCH,
                    label=f"{label} {verb}",
                    detail=detail,
                    subject=subject if row.kind in _PAGES else "",
                )


def _changes_of_switch(
    row: Switch, job: BulkJob | None
) -> Iterator[tuple[dt.datetime | None, str, str]]:
    """Yield time, verb and actor; of a cancelled or aborted job the end is no resume."""
    if job is None or job.state not in STOPPED:
        yield row.set_at, "paused", f"by {row.set_by}: {row.reason}"
        yield row.resumed_at, "resumed", f"by {row.resumed_by}"
        return
    if job.state_changed_at and row.set_at < job.state_changed_at - _SAME_CHANGE:
        yield row.set_at, "paused", f"by {row.set_by}: {row.reason}"
    yield job.state_changed_at, job.state, f"by {job.state_changed_by}"


def _settings(since: dt.datetime, until: dt.datetime) -> Iterator[Annotation]:
    rows = AuditEntry.objects.filter(object_type__in=_SETTINGS, at__range=(since, until))
    for row in rows.order_by("-at")[:MOST]:
        name = row.object_name or row.object_id
        words = row.operation.replace("_", " ")
        yield Annotation(
            at=row.at, kind=Kind.SETTINGS, label=f"{words}: {name}", detail=f"by {row.by}"
        )


_BREAKER_WORDS: Final = {"tripped": "paused", "closed": "working again"}
