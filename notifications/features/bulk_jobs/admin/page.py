"""The page of a bulk job: progress, results, funnel, and counts by status and variant.

The figures come from `figures`, with three queries for any size of the job. The history comes from
the audit log.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from notifications.core import clock
from notifications.core.models import AuditEntry, BulkJob
from notifications.core.rules.bulk_job import STOPPED, BulkJobState, Total, UniqueBy
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.rules.templates import one_off
from notifications.core.store.postgres import audit
from notifications.features.audiences.rules import wording
from notifications.features.bulk_jobs import figures
from notifications.features.bulk_jobs.admin import compose_text, job_words, outcome
from notifications.features.bulk_jobs.figures import JobFigures
from notifications.features.bulk_jobs.rules import schedule_text
from notifications.features.bulk_jobs.rules.figures import FUNNEL, VariantFigures
from notifications.features.bulk_jobs.rules.results import LEVEL
from providers.contract import Channel

HISTORY: Final = 50
"""State changes on the page; the audit log has all."""
_WHOLE: Final = 100
_NAMES: Final = {Total.READ: "opened"}
_DOLLAR: Final = 1_000_000
"""Millionths of a US dollar."""
_UNIQUE: Final = {
    UniqueBy.ADDRESS: "each mailbox, number, device or chat, also if several recipients share it",
    UniqueBy.RECIPIENT: "each recipient, also at an address that several recipients share",
}
_SHARES: Final = ("failed", "bounced", "complained")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the funnel."""

    name: str
    count: int
    percent: float
    """Share of the accepted messages."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the state."""

    at: dt.datetime
    by: str
    state: str
    reason: str


def context(job: BulkJob, *, may_steer: bool) -> dict[str, Any]:
    """Return the values of the page."""
    now = clock.now()
    found = figures.of(job, now=now)
    state = BulkJobState(job.state)
    return {
        "job": job,
        "sentence": job_words.of_job(job, found, now=now),
        "figures": found,
        "is_final": state.is_final,
        "is_moving": not state.is_final or found.whole.total(Total.ACCEPTED) < found.accepted,
        "percent": f"{found.percent:g}",
        "rate": schedule_text.rate(found.rate) if found.rate else "none",
        "rate_wanted": _rate_text(found),
        "end": schedule_text.instant(found.ends_at, now=now) if found.ends_at else "",
        "remaining": schedule_text.duration((found.ends_at - now).total_seconds())
        if found.ends_at
        else "",
        "funnel": list(_funnel(found.whole, accepted=found.accepted)),
        "statuses": _statuses(found),
        "variant_rows": list(_variant_rows(found)),
        "results": outcome.sentences(job, found),
        "plots": outcome.plots(job, found),
        "cost": f"{found.whole.total(Total.COST_MICROS) / _DOLLAR:,.2f}",
        "facts": list(_facts(job, now=now)),
        "texts": written.texts if (written := compose_text.content_of(job)) else (),
        "comparison": list(_comparison(job)),
        "history": list(_history(job)),
        "buttons": _buttons(state) if may_steer else [],
    }


def _rate_text(found: JobFigures) -> str:
    if found.rate_wanted is None:
        return "no limit"
    is_ceiling = found.rate_wanted == found.rate_ceiling
    said = schedule_text.rate(found.rate_wanted)
    return f"{said}, the most of this installation" if is_ceiling else said


def _funnel(whole: VariantFigures, *, accepted: int) -> Iterator[Step]:
    for total in FUNNEL:
        count = accepted if total is Total.ACCEPTED else whole.total(total)
        share = _WHOLE * count / accepted if accepted else 0.0
        yield Step(_NAMES.get(total, total.value), count, round(min(share, _WHOLE), 1))


def _statuses(found: JobFigures) -> list[tuple[str, int, list[int]]]:
    """Return status, deliveries, and the deliveries of each variant, in the order of statuses."""
    labels = [each.label for each in Status]
    known = sorted(found.whole.statuses, key=labels.index)
    return [
        (
            name,
            found.whole.statuses[name],
            [each.statuses.get(name, 0) for each in found.variants.values()],
        )
        for name in known
    ]


def _variant_rows(found: JobFigures) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Yield the name of a variant and each total with the share of the accepted deliveries."""
    for name, variant in found.variants.items():
        accepted = variant.total(Total.ACCEPTED)
        counts = [variant.total(each) for each in (*FUNNEL, Total.FAILED, Total.BOUNCED)]
        shares = [round(_WHOLE * each / accepted, 1) if accepted else 0.0 for each in counts]
        yield name, list(zip(counts, shares, strict=True))


def _facts(job: BulkJob, *, now: dt.datetime) -> Iterator[tuple[str, str]]:
    yield "Producer", f"{job.producer.name}, {job.get_mode_display()} mode"
    text = one_off.described(job.template_id)
    yield "Message", f"{job.type}, {Priority(job.priority).name}, {text}"
    channels = ", ".join(Channel(each).label for each in job.channels)
    yield "Channels", channels or "the order of each recipient"
    yield "Audience", wording.describe_stored(job.audience)
    yield "One message to", _UNIQUE[UniqueBy(job.unique_by)]
    yield (
        "Schedule",
        schedule_text.sentences(job_words.schedule_of(job), count=job.estimate, now=now),
    )
    if job.weight != 1:
        yield "Weight", f"{job.weight} beside other bulk jobs"
    limits = [
        f"{name} over {_WHOLE * job.abort_limits[name]:g} %"
        for name in _SHARES
        if job.abort_limits.get(name) is not None
    ]
    if limits:
        after = job.abort_limits.get("minimum")
        yield "Aborted at", ", ".join(limits) + (f", from {after:,} sent messages" if after else "")
    yield "Created", f"{job.created_at:%Y-%m-%d %H:%M:%S} UTC by {job.created_by}"


def _text_of(variant: Mapping[str, Any]) -> str:
    """Return the template of a variant, with the variant of its texts."""
    name = variant.get("template_variant")
    text = one_off.label(variant["template_id"])
    return f"{text}, variant {name}" if name else text


def _comparison(job: BulkJob) -> Iterator[str]:
    if job.test_group_size:
        yield (
            f"Test group: the first {job.test_group_size:,} recipients; the others follow"
            f" {schedule_text.duration(job.test_group_seconds)} later."
        )
    if job.variants:
        shares = ", ".join(
            f"{each['name']} {each['percent']} % ({_text_of(each)})" for each in job.variants
        )
        yield f"Variants: {shares}."
    if job.holdout_percent:
        yield f"Holdout: {job.holdout_percent} % of the recipients get no message."
    if rule := job.winner_rule:
        yield (
            f"Winner: by {rule['metric']}, {schedule_text.duration(rule['after_seconds'])} after"
            f" a sample of {rule['sample_percent']} %. The others get the highest share, which is a"
            " clear winner if a test of two proportions calls the difference significant"
            f" (p < {LEVEL})."
        )
        yield f"The others get variant {job.winner}." if job.winner else "No variant is chosen yet."


def _history(job: BulkJob) -> Iterator[Change]:
    """Yield the changes of the state, newest first; the service's own changes have no operator."""
    entries: list[AuditEntry] = list(audit.of_object(job)[:HISTORY])
    known = {_state_in(entry.after) for entry in entries}
    if job.state not in known and job.state_changed_at:
        by = job.state_changed_by or "the service"
        yield Change(job.state_changed_at, by, job.state, job.state_reason)
    for entry in entries:
        if state := _state_in(entry.after):
            yield Change(entry.at, entry.by, state, str(entry.after.get("state_reason") or ""))
    if job.started_at and BulkJobState.RUNNING.value != job.state:
        yield Change(job.started_at, "the service", BulkJobState.RUNNING.value, "Started.")


def _state_in(facts: Mapping[str, Any]) -> str:
    return str(facts.get("state") or "")


def _buttons(state: BulkJobState) -> list[tuple[str, str]]:
    """Return verb and title of the permitted buttons.

    A finished job can have deliveries waiting in lanes.
    """
    if state in STOPPED:
        return []
    first = ("resume", "Resume") if state is BulkJobState.PAUSED else ("pause", "Pause")
    return [first, ("cancel", "Cancel")]
