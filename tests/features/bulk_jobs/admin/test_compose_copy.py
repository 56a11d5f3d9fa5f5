"""A copy of a bulk job has all its values."""

from __future__ import annotations

from typing import Any

import pytest

from notifications.core.intake.validation import Caller
from notifications.core.models import BulkJob
from notifications.core.rules.lane import Mode, Priority
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.admin import compose_draft
from notifications.features.bulk_jobs.admin.compose_form import ComposeForm
from notifications.features.bulk_jobs.rules.request import MAX_VARIANTS, BulkJobRequest

BODY: dict[str, Any] = {
    "name": "Winter sale",
    "audience": {"user_ids": ["u_0", "u_1"]},
    "type": "PROMO",
    "priority": "P3",
    "template_id": "winter_sale",
    "variables": {"name": "Maria"},
    "channels": ["email"],
    "delivery": "first",
    "unique_by": "recipient",
    "ttl_seconds": 5_000,
    "metadata": {"campaign": "winter"},
    "rate_per_second": 12.5,
    "weight": 3,
    "holdout_percent": 5,
    "variants": [
        {"name": f"v{number}", "template_id": "winter_sale", "percent": percent}
        | ({"template_variant": "b"} if number else {})
        for number, percent in enumerate([16, *[12] * (MAX_VARIANTS - 1)])
    ],
    "winner": {"metric": "clicked", "sample_percent": 10, "after_seconds": 90},
    "test_group": {"size": 2, "wait_seconds": 3_601},
    "abort_limits": {"failed": 0.05, "complained": 0.001, "minimum": 7},
}


def copy_of(draft: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    request = BulkJobRequest.model_validate(body)
    caller = Caller(
        producer_id=draft["producer"],
        mode=Mode.LIVE,
        priorities=frozenset(Priority),
        may_send_content=False,
        by="maria",
    )
    job = BulkJob.objects.get(pk=create.create(caller, request, by="maria").pk)
    values = {
        name: value
        for name, value in compose_draft.values_of_copy(job).items()
        if value is not None
    }
    form = ComposeForm({**values, "job_id": str(job.pk), "start": "now"})
    assert form.is_valid(), form.errors
    return form.body()


@pytest.mark.parametrize(
    "pace", [{}, {"rate_per_second": None, "spread_seconds": 36_001}], ids=["rate", "spread"]
)
def test_a_copy_has_each_value_of_the_job(
    draft: dict[str, Any],
    pace: dict[str, Any],
) -> None:
    body = {name: value for name, value in {**BODY, **pace}.items() if value is not None}
    assert copy_of(draft, body) == body


def test_a_copy_of_a_plain_job_is_plain(draft: dict[str, Any]) -> None:
    plain = ("name", "audience", "type", "priority", "template_id", "variables")
    body = {name: BODY[name] for name in plain}
    assert copy_of(draft, body) == {
        **body,
        "delivery": "first",
        "unique_by": "address",
        "weight": 1,
    }
