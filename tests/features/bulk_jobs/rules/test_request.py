"""The body of a bulk job is checked, and each fault has a pointer."""

from __future__ import annotations

from typing import Any, Final

import pytest

from notifications.core.rules.channels import Spread
from notifications.core.rules.problems import Problem
from notifications.features.bulk_jobs.rules import request
from notifications.features.bulk_jobs.rules.request import BulkJobRequest
from providers.contract import Channel

PLAIN: Final = {
    "name": "Winter sale",
    "audience": {"everyone": True},
    "type": "PROMO",
    "template_id": "winter_sale",
}
A_B: Final = [{"name": "a", "percent": 50}, {"name": "b", "template_id": "sale_b", "percent": 50}]


def _parsed(**fields: object) -> BulkJobRequest:
    job = request.parse({**PLAIN, **fields})
    assert isinstance(job, BulkJobRequest), job
    return job


def _faults(**fields: object) -> dict[str, str]:
    problem = request.parse({**PLAIN, **fields})
    assert isinstance(problem, Problem)
    return {each.pointer: each.detail for each in problem.errors}


def test_a_plain_job_has_the_defaults() -> None:
    job = _parsed()
    assert job.delivery is Spread.FIRST
    assert (job.weight, job.holdout_percent, job.variants, job.scheduled_at) == (1, 0, [], None)
    assert job.template_ids == {"winter_sale"}


def test_a_job_can_have_every_field() -> None:
    job = _parsed(
        priority="P2",
        variables={"code": "WINTER"},
        channels=["email", "push"],
        delivery="all",
        ttl_seconds=3600,
        metadata={"campaign": 7},
        send_at_local="2026-11-27T09:00",
        spread_seconds=36_000,
        weight=3,
        variants=A_B,
        holdout_percent=5,
        winner={"metric": "clicked", "sample_percent": 10, "after_seconds": 3600},
        test_group={"size": 1000, "wait_seconds": 600},
        abort_limits={"failed": 0.05, "complained": 0.001},
    )
    assert job.channels == [Channel.EMAIL, Channel.PUSH]
    assert job.template_ids == {"winter_sale", "sale_b"}
    assert job.abort_limits is not None
    assert job.abort_limits.minimum == 100


@pytest.mark.parametrize(
    ("fields", "pointer", "said"),
    [
        ({"name": ""}, "/name", "must not be empty"),
        ({"name": "   "}, "/name", "must not be empty"),
        ({"audience": {}}, "/audience", "must not be empty"),
        ({"audience": [1]}, "/audience", "must be a JSON object"),
        ({"audience": {"evryone": True}}, "/audience/evryone", "did you mean everyone"),
        ({"audience": {"and": [{"topic": 7}]}}, "/audience/and/0/topic", "must be"),
        ({"audience": {"user_ids": ["a\u0000b"]}}, "/audience/user_ids/0", "NUL"),
        ({"template_id": None}, "/template_id", "must be a string"),
        ({"priority": "P1"}, "/priority", "a bulk job may have priority P2 or P3, not P1"),
        ({"priority": "P7"}, "/priority", "must be one of P0, P1, P2, P3"),
        ({"channels": ["email", "email"]}, "/channels", "must not repeat a channel"),
        ({"channels": ["fax"]}, "/channels/0", "must be one of push"),
        ({"scheduled_at": "2026-11-27T09:00:00"}, "/scheduled_at", "must be an instant"),
        ({"send_at_local": "9:00"}, "/send_at_local", "must be a time like 09:00"),
        ({"send_at_local": "2026-02-30T09:00"}, "/send_at_local", "not a date of the calendar"),
        ({"send_at_local": "0001-01-01T09:00"}, "/send_at_local", "between 1970 and 2200"),
        (
            {"send_at_local": "09:00", "scheduled_at": "2026-11-27T09:00:00Z"},
            "/send_at_local",
            "not both",
        ),
        ({"rate_per_second": 0}, "/rate_per_second", "must be at least 0.001"),
        ({"rate_per_second": True}, "/rate_per_second", "must be a number"),
        ({"rate_per_second": 5, "spread_seconds": 60}, "/spread_seconds", "not both"),
        ({"weight": 0}, "/weight", "must be at least 1"),
        ({"weight": True}, "/weight", "must be a number"),
        ({"holdout_percent": 91}, "/holdout_percent", "must be at most 90"),
        ({"variants": A_B[:1]}, "/variants", "at least 2 variants"),
        ({"variants": [A_B[0], {"name": "b", "percent": 40}]}, "/variants", "add up to 100"),
        ({"variants": [A_B[0], A_B[0]]}, "/variants/1/name", "must differ"),
        ({"variants": [{"name": "a"}]}, "/variants/0/percent", "this field is required"),
        (
            {"winner": {"metric": "clicked", "sample_percent": 10, "after_seconds": 60}},
            "/winner",
            "needs variants",
        ),
        (
            {"variants": A_B, "winner": {"metric": "sales", "sample_percent": 1}},
            "/winner/metric",
            "must be one of delivered, read, clicked",
        ),
        ({"test_group": {"size": 0, "wait_seconds": 60}}, "/test_group/size", "at least 1"),
        ({"abort_limits": {"failed": 5}}, "/abort_limits/failed", "must be at most 1"),
        ({"metadata": {"a": "x" * 5000}}, "/metadata", "may take 4096 bytes"),
        ({"variables": {"a": "x" * 70_000}}, "/variables", "may take 65536 bytes"),
        ({"wieght": 3}, "/wieght", "unknown field; did you mean weight?"),
    ],
)
def test_each_fault_has_a_pointer(fields: dict[str, Any], pointer: str, said: str) -> None:
    assert said in _faults(**fields)[pointer]


@pytest.mark.parametrize("body", [None, 3, [], "job", {}])
def test_other_json_is_refused(body: object) -> None:
    assert isinstance(request.parse(body), Problem)
