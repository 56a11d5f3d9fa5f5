"""The page on which a sender confirms a live bulk job: what, to whom, when, by which producer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from notifications.core.rules.channels import Spread
from notifications.features.audiences.rules import wording
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.admin import compose_draft
from notifications.features.bulk_jobs.admin.compose_draft import Draft
from notifications.features.bulk_jobs.rules.request import BulkJobRequest, VariantRequest


def context(draft: Draft, wanted: BulkJobRequest) -> dict[str, Any]:
    """Return the values of the page, without the previews and the cost.

    Args:
        draft: a draft without a fault.
        wanted: the request of the draft.

    Raises:
        BulkJobRefused: the type became wrong.
    """
    return {
        "form": draft.form,
        "name": wanted.name,
        "size": _size(draft),
        "facts": list(_facts(draft, wanted)),
        "warnings": [check for check in draft.checks if check.level == "warning"],
        "must_be_named": draft.must_be_named,
        "large": compose_draft.LARGE,
    }


def objection(draft: Draft) -> str:
    """Return a sentence if the job has to be named and is not; else an empty text."""
    name = str(draft.value["name"]).strip()
    is_named = str(draft.value.get("confirmation") or "").strip() == name
    return "" if is_named or not draft.must_be_named else f"Write the name of the job: {name}"


def _size(draft: Draft) -> str:
    if draft.estimate is None:
        return "no recipient"
    about = "" if draft.estimate.is_exact else "about "
    plural = "" if draft.estimate.count == 1 else "s"
    return f"{about}{draft.estimate.count:,} recipient{plural}"


def _facts(draft: Draft, wanted: BulkJobRequest) -> Iterator[tuple[str, str]]:
    producer = draft.value["producer"]
    rule = create.type_rule(compose_draft.caller_of(producer, draft.mode, by=""), wanted)
    yield "Producer", producer.name
    yield "Type", f"{wanted.type}, priority {rule.priority.name}"
    yield "Template", wanted.template_id
    if wanted.variants:
        yield "Variants", "; ".join(_variant(each) for each in wanted.variants)
    if wanted.holdout_percent:
        yield "Holdout", f"{wanted.holdout_percent} % of the audience get no message"
    yield "Channels", _channels(wanted)
    said = wording.describe(draft.expression) if draft.expression else ""
    yield "Audience", f"{_size(draft)}: {said}"
    yield "Schedule", draft.schedule()


def _variant(variant: VariantRequest) -> str:
    own = f" ({variant.template_id})" if variant.template_id else ""
    return f"{variant.name}{own}, {variant.percent} %"


def _channels(wanted: BulkJobRequest) -> str:
    names = ", ".join(each.label for each in wanted.channels) or "in the order of each recipient"
    if wanted.delivery is Spread.ALL:
        return f"{names}; all of them"
    return f"{names}; the first usable one"
