"""The form of the composer becomes the body of the API, and faults return to the fields."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

import pytest

from notifications.core.models import Producer
from notifications.core.rules.problems import Problem
from notifications.features.bulk_jobs.rules import request as requests
from notifications.features.bulk_jobs.rules.request import BulkJobRequest

if TYPE_CHECKING:
    from notifications.features.bulk_jobs.admin.compose_form import ComposeForm

pytestmark = pytest.mark.django_db


def make(values: object) -> ComposeForm:
    importlib.import_module("notifyproj.urls")  # the admin of other apps goes first
    form = importlib.import_module(
        "notifications.features.bulk_jobs.admin.compose_form"
    ).ComposeForm(values)
    form.is_valid()
    return cast("ComposeForm", form)


def filled(**given: object) -> ComposeForm:
    producer = Producer.objects.create(name="shop")
    plain = {
        "name": "Winter sale",
        "producer": producer.pk,
        "mode": 1,
        "audience": '{"attribute": "plan", "is": "pro"}',
        "type": "PROMO",
        "template_id": "winter_sale",
        "start": "now",
        "job_id": "0199a7a4-0000-7000-8000-000000000000",
    }
    return make({**plain, **given})


def faults(form: ComposeForm) -> dict[str, str]:
    problem = requests.parse(form.body())
    assert isinstance(problem, Problem), problem
    return form.fields_of(problem.errors)


TYPED = {
    "start": "local",
    "at": "2026-11-23T09:00",
    "pace": "spread",
    "pace_number": "10",
    "channels": ["push", "email"],
    "ttl_hours": "1.5",
    "test_group_size": "1000",
    "test_group_minutes": "30",
    "abort_failed": "5",
    "variables": '{"code": "WINTER"}',
    "variant_a_name": "a",
    "variant_a_percent": "50",
    "variant_c_name": "c",
    "variant_c_template": "sale_c",
    "variant_c_template_variant": "b",
    "variant_c_percent": "50",
    "holdout_percent": "10",
    "winner_metric": "clicked",
    "winner_sample": "20",
    "winner_minutes": "60",
}
BODY = {
    "name": "Winter sale",
    "audience": {"attribute": "plan", "is": "pro"},
    "type": "PROMO",
    "template_id": "winter_sale",
    "variables": {"code": "WINTER"},
    "holdout_percent": 10,
    "channels": ["push", "email"],
    "ttl_seconds": 5400,
    "send_at_local": "2026-11-23T09:00",
    "spread_seconds": 36_000,
    "variants": [
        {"name": "a", "percent": 50},
        {"name": "c", "template_id": "sale_c", "template_variant": "b", "percent": 50},
    ],
    "winner": {"metric": "clicked", "sample_percent": 20, "after_seconds": 3600},
    "test_group": {"size": 1000, "wait_seconds": 1800},
    "abort_limits": {"failed": 0.05},
}


def test_the_units_of_people_become_the_units_of_the_api() -> None:
    form = filled(**TYPED)
    assert form.errors == {}
    body = form.body()
    assert body == BODY
    assert isinstance(requests.parse(body), BulkJobRequest)


def test_a_rate_is_given_by_the_hour_and_a_start_in_utc() -> None:
    body = filled(start="utc", at="2026-11-23T09:00", pace="rate", pace_number="36000").body()
    assert body["rate_per_second"] == 10
    assert body["scheduled_at"] == "2026-11-23T09:00:00+00:00"


def test_hidden_fields_of_another_choice_are_left_out() -> None:
    body = filled(start="now", at="2026-11-23T09:00", pace="", pace_number="36000").body()
    assert {"scheduled_at", "send_at_local", "rate_per_second", "spread_seconds"} & set(
        body
    ) == set()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "x" * 101}, "name"),
        ({"audience": "{}"}, "audience"),
        ({"type": "has a space"}, "type"),
        ({"holdout_percent": "91"}, "holdout_percent"),
        ({"pace": "spread", "pace_number": "10000"}, "pace_number"),
        ({"ttl_hours": "99999"}, "ttl_hours"),
        ({"weight": "0"}, "weight"),
        ({"winner_metric": "clicked"}, "winner_sample"),
        ({"test_group_size": "10"}, "test_group_minutes"),
        ({"abort_bounced": "101"}, "abort_bounced"),
        ({"variant_b_name": "b", "variant_b_percent": "100"}, "variant_b_percent"),
        ({"variant_a_name": "a", "variant_a_template_variant": "B"}, "variant_a_template_variant"),
        ({"variables": '{"no name!": 1}'}, "variables"),
    ],
)
def test_a_fault_of_the_body_stands_at_its_field(given: dict[str, str], field: str) -> None:
    assert field in faults(filled(**given))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"audience": "{"}, "audience"),
        ({"audience": "[1]"}, "audience"),
        ({"variables": "[" * 5_000}, "variables"),
        ({"channels": "fax"}, "channels"),
        ({"pace_number": "many"}, "pace_number"),
        ({"pace": "spread", "pace_number": "1e308"}, "pace_number"),
        ({"ttl_hours": "1e308"}, "ttl_hours"),
        ({"pace": "rate"}, "pace_number"),
        ({"start": "utc"}, "at"),
        ({"mode": "7"}, "mode"),
        ({"producer": "7000"}, "producer"),
        ({"producer": ""}, "producer"),
        ({"start": ""}, "start"),
        ({"audience": " "}, "audience"),
        ({"job_id": "none"}, "job_id"),
        ({"ttl_hours": "inf"}, "ttl_hours"),
        ({"ttl_hours": "nan"}, "ttl_hours"),
    ],
)
def test_a_fault_of_a_field_is_told_and_the_body_is_still_made(
    given: dict[str, str], field: str
) -> None:
    form = filled(**given)
    assert field in form.errors
    form.body()


def test_a_fault_without_a_field_is_not_hidden() -> None:
    form = filled(channels="push", metadata='{"a": "' + "x" * 5_000 + '"}')
    assert "metadata" in faults(form)
    variants = {f"variant_{each}_name": each for each in "abc"}
    again = make({**form.data, "metadata": "", **variants})
    assert set(faults(again)) == {f"variant_{each}_percent" for each in "abc"}
