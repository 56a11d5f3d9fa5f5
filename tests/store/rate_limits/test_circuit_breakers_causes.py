"""The cause of a trip names the last answer and the time since the first failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import cast

import orjson
import pytest

from notifications.core.delivery import provider_health
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey
from notifications.core.store.cached import provider_overrides
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from providers.contract import Outcome, Unanswered, Unavailable
from tests.store.ageing import age
from tests.store.telling import EMAIL, PUSH, SECOND, down, report, silent, well


@pytest.fixture(autouse=True)
def _fresh(db: None) -> Iterator[None]:  # noqa: ARG001 - pytest-django asks for it by name
    state.client().flushdb()
    for each in (circuit_breakers, provider_overrides):
        each.forget()
    yield
    provider_overrides.forget()


@pytest.mark.parametrize(
    ("outcome", "answer"),
    [
        (Unavailable(code="503"), "503"),
        (Unavailable(), "unavailable"),
        (Unanswered(code="timeout"), "no answer, timeout"),
    ],
    ids=repr,
)
def test_the_cause_names_the_last_answer_and_the_time_since_the_first_failure(
    outcome: Outcome, answer: str
) -> None:
    failed = replace(down(), failure=provider_health.failure_of(outcome))
    report(EMAIL, well(5))
    age(5 * SECOND)  # the last success is no part of the fault
    for _ in range(2):
        age(SECOND)
        report(EMAIL, failed)
    age(SECOND)
    verdict = report(EMAIL, failed)
    assert verdict is not None
    assert verdict.why == f"3 failures in a row in 2 s, the last: {answer}"


@pytest.mark.parametrize(
    ("key", "before", "failures"),
    [(PUSH, 0, down(10)), (EMAIL, 79, down(21)), (EMAIL, 49, silent(52))],
    ids=repr,
)
def test_each_cause_by_failures_names_the_last_answer(
    key: HealthKey, before: int, failures: CallStats
) -> None:
    report(key, well(before))
    verdict = report(key, replace(failures, failure="503"))
    assert verdict is not None
    assert verdict.why.endswith(", the last: 503")


def test_a_report_of_an_earlier_release_names_no_answer() -> None:
    told = {
        name: value
        for name, value in asdict(down(10)).items()
        if name not in {"failure", "suspects", "confirms"}
    }
    keys = [
        circuit_breakers.CLOSED,
        circuit_breakers.key(PUSH),
        circuit_breakers.pace_key(PUSH),
        "",
    ]
    rules = orjson.dumps(circuit_breakers.thresholds(PUSH))
    arguments: list[str | int | float | bytes] = [
        *(circuit_breakers._SHARED, rules, orjson.dumps(told)),
        "",
    ]
    answers = cast(
        "list[tuple[int, int, int, bytes, bytes]]", state.call("health_told", keys, arguments)
    )
    assert [why for *_, why, _ in answers] == [b"10 failures in a row"]
