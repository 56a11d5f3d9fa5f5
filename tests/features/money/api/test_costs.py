"""Operators' keys read the costs of a month."""

from __future__ import annotations

import pytest

from notifications.core import clock
from notifications.core.api.schemas import AttemptDetail
from notifications.core.models import Attempt, Producer
from tests.api.conftest import Caller, MakeCaller
from tests.figures.conftest import _store as store_rollup


def test_costs_are_json_or_csv(caller: Caller) -> None:
    shop = Producer.objects.create(name="shop")
    store_rollup(clock.now(), {"cost_micros": 2_500_000}, producer_id=shop.pk, country="")
    answer = caller.get("/v1/costs").json()
    assert (answer["cost_usd"], answer["by"], answer["month"]) == (
        2.5,
        "producer",
        f"{clock.now():%Y-%m}",
    )
    assert answer["lines"] == [{"name": "shop", "bulk_job_id": None, "cost_usd": 2.5}]
    assert answer["forecast_usd"] >= 2.5
    assert caller.get("/v1/costs", by="country").json()["lines"][0]["name"] is None
    text = caller.get("/v1/costs", by="channel", format="csv").content.decode()
    assert text.splitlines() == [
        "month,channel,bulk_job_id,cost_usd",
        f"{clock.now():%Y-%m},sms,,2.5",
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [("month", "2026-13"), ("month", "2999-01"), ("month", "2001-01"), ("by", "user_id")],
)
def test_a_wrong_query_is_refused(caller: Caller, field: str, value: str) -> None:
    problem = caller.get("/v1/costs", **{field: value})
    assert problem.status_code == 422
    assert problem.json()["errors"][0]["pointer"] == f"/{field}"


def test_a_key_without_the_scope_is_refused(make_caller: MakeCaller) -> None:
    assert make_caller(scopes=["analytics:read"]).get("/v1/costs").status_code == 403


def test_the_call_of_a_notification_has_its_cost() -> None:
    fields = {"number": 1, "provider": "twilio", "outcome": "accepted", "code": "", "detail": ""}
    call = Attempt(
        **fields,
        signed_with="",
        country="",
        started_at=clock.now(),
        latency_ms=3,
        cost_micros=7_500,
    )
    assert AttemptDetail.model_validate(call).to_json()["cost_usd"] == 0.0075
    call.cost_micros = None
    assert AttemptDetail.model_validate(call).to_json()["cost_usd"] is None


@pytest.mark.parametrize(("stored", "shown"), [("BR", "BR"), ("", None)])
def test_the_call_of_a_notification_has_its_country(stored: str, shown: str | None) -> None:
    call = Attempt(
        number=1,
        provider="ses",
        outcome="accepted",
        started_at=clock.now(),
        latency_ms=3,
        signed_with="",
        country=stored,
    )
    assert AttemptDetail.model_validate(call).to_json()["country"] == shown
