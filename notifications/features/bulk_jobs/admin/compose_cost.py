"""A dry run of a draft: the numbers of messages and of left-out recipients, and the cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from notifications.core.models import Producer
from notifications.core.rules.prices import MICROS
from notifications.core.store.postgres import time_limit
from notifications.core.store.postgres.time_limit import TooSlow
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.bulk_jobs import create, dry_run
from notifications.features.bulk_jobs.admin.compose_draft import Draft, caller_of
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.dry_run import Cost, DryRun, Sample
from notifications.features.bulk_jobs.page import TemplateGone
from notifications.features.bulk_jobs.rules import left_out
from providers.contract import Channel

SECONDS: Final = 1.0
"""Time for examining recipients, while a person waits."""
_STATEMENT_MILLISECONDS: Final = 3_000
_CENT: Final = MICROS // 100
_SHOWN: Final = 3
"""Causes of texts that cannot be rendered."""
_TOLD: Final = {
    "unknown_recipient": "No recipient has this user id.",
    "not_in_audience": "The recipient is not in the audience.",
}


@dataclass(frozen=True, slots=True)
class CostLine:
    """The cost of the messages on a channel."""

    name: str
    """Channel, and the country of SMS."""
    messages: int
    segments: int
    """0 for other channels than SMS."""
    dollars: str


def context(draft: Draft, *, user_id: str = "") -> dict[str, Any]:
    """Return the values of the part `cost`; no values for an unfinished draft.

    Args:
        draft: the examined draft.
        user_id: a recipient about whom the page says whether a message goes out; empty: nobody.
    """
    producer: Producer | None = draft.value.get("producer")
    if draft.request is None or producer is None or draft.expression is None:
        return {}
    try:
        job = create.build(caller_of(producer, draft.mode, by=""), draft.request, by="")
        with time_limit.each_statement(milliseconds=_STATEMENT_MILLISECONDS):
            asked = [user_id] if user_id else []
            found = dry_run.run(job, samples=0, user_ids=asked, seconds=SECONDS)
    except (BulkJobRefused, ExpressionError, TemplateGone):
        return {}  # the checks of the draft name the fault
    except TooSlow:
        return {"told": "The dry run takes too long for this audience. Sending is possible."}
    return _values_of(found)


def _values_of(found: DryRun) -> dict[str, Any]:
    micros = sum(each.micros for each in found.costs)
    return {
        "found": found,
        "messages": round(found.messages * found.factor),
        "unrenderable": found.unrenderable,
        "problems": [problem for problem, _ in found.problems.most_common(_SHOWN)],
        "dollars": _dollars(micros),
        "lines": [_line(each) for each in found.costs],
        "left_out": [
            (left_out.sentence(reason), round(count * found.factor))
            for reason, count in found.left_out.most_common()
        ],
        "person": next((_person(each) for each in found.samples), ""),
    }


def _line(cost: Cost) -> CostLine:
    is_sms = cost.channel is Channel.SMS
    name = f"{cost.channel.label}, {cost.country or 'unknown country'}"
    return CostLine(
        name if is_sms else cost.channel.label,
        cost.messages,
        cost.units if is_sms else 0,
        _dollars(cost.micros),
    )


def _person(sample: Sample) -> str:
    if sample.left_out:
        said = _TOLD.get(sample.left_out) or left_out.sentence(sample.left_out)
        return f"{sample.user_id} gets no message: {said}"
    channels = ", ".join(each.channel.label for each in sample.texts)
    variant = next((each.variant for each in sample.texts if each.variant), "")
    return f"{sample.user_id} gets {channels}{f', variant {variant}' if variant else ''}."


def _dollars(micros: int) -> str:
    """Return dollars with cents; with four digits below one cent."""
    return f"${micros / MICROS:,.{4 if 0 < micros < _CENT else 2}f}"
