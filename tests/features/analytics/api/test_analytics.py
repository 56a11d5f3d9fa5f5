"""Figures over HTTP: of the key's producer and mode, in JSON and CSV."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.rules.rollups import Latency, Step
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller
from tests.figures.conftest import MakeRollup, make_rollup

__all__ = ["make_rollup"]

_PATH = "/v1/analytics"


def _hour() -> dt.datetime:
    return Step.HOUR.floor(clock.now())


def _text(instant: dt.datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


def test_a_metric_has_values_for_each_bucket_and_group(
    caller: Caller, make_rollup: MakeRollup
) -> None:
    of = {"producer_id": caller.producer.pk}
    make_rollup(_hour(), {"sent": 2}, **of)
    make_rollup(_hour() - dt.timedelta(hours=1), {"sent": 3}, channel=Channel.EMAIL, **of)
    start = _text(_hour() - dt.timedelta(hours=1))
    answer = caller.get(
        _PATH, metric="sent", by="channel", step="hour", **{"from": start, "to": _text(_hour())}
    ).json()
    assert answer["groups"] == [{"group": {"channel": "email"}, "total": 3, "values": [3]}]
    answer = caller.get(_PATH, metric="sent", by="channel", step="hour", since=start).json()
    assert answer["buckets"] == [start, _text(_hour())]
    assert answer["groups"] == [
        {"group": {"channel": "email"}, "total": 3, "values": [3, 0]},
        {"group": {"channel": "sms"}, "total": 2, "values": [0, 2]},
    ]


def test_a_total_of_months_until_now(caller: Caller, make_rollup: MakeRollup) -> None:
    now = clock.now()
    start = Step.DAY.floor(now - dt.timedelta(days=30))
    for at in (now, start):
        make_rollup(at, {"sent": 2}, producer_id=caller.producer.pk)
    answer = caller.get(_PATH, metric="sent", step="total", since=_text(start)).json()
    assert [each["total"] for each in answer["groups"]] == [4]


def test_filters_and_totals(caller: Caller, make_rollup: MakeRollup) -> None:
    make_rollup(
        clock.now(),
        {"failed": 2},
        sketches={Latency.CALL_TO_ANSWER: {50: 1}},
        producer_id=caller.producer.pk,
        reason="permanent",
    )
    query = {"metric": "failed", "step": "total", "reason": "permanent", "priority": "P1"}
    answer = caller.get(_PATH, **query).json()
    assert (answer["step"], answer["buckets"]) == ("total", [])
    assert answer["groups"] == [{"group": {}, "total": 2, "values": []}]
    none = caller.get(_PATH, **{**query, "country": "FR"}).json()
    assert [each["total"] for each in none["groups"]] == [0]


@pytest.mark.parametrize("query", ["by=country", "country=BR", "by=country&by=channel"])
def test_a_question_about_countries_has_hours_of_each_channel(
    caller: Caller, make_rollup: MakeRollup, query: str
) -> None:
    of = {"producer_id": caller.producer.pk, "channel": Channel.EMAIL, "country": "BR"}
    make_rollup(_hour(), {"sent": 2}, **of)
    start = _text(_hour())
    answer = caller.send("GET", f"{_PATH}?metric=sent&since={start}&{query}").json()
    assert answer["step"] == "hour"
    assert [each["total"] for each in answer["groups"]] == [2]
    by_minute = caller.send("GET", f"{_PATH}?metric=sent&since={start}&step=minute&{query}").json()
    assert all("BR" not in each["group"].values() for each in by_minute["groups"])


@pytest.mark.parametrize("way", ["header", "parameter"])
def test_csv_has_a_line_for_each_value(caller: Caller, make_rollup: MakeRollup, way: str) -> None:
    make_rollup(clock.now(), {"sent": 2}, producer_id=caller.producer.pk)
    query = f"{_PATH}?metric=sent&by=channel&by=version&step=day"
    if way == "header":
        answer = caller.send("GET", query, accept="text/csv")
    else:
        answer = caller.send("GET", f"{query}&format=csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = answer.content.decode().splitlines()
    assert lines[0] == "bucket,channel,version,sent"
    assert lines[-1] == f"{_text(Step.DAY.floor(clock.now()))},sms,2,2"


def test_csv_has_no_formula(caller: Caller, make_rollup: MakeRollup) -> None:
    make_rollup(clock.now(), {"sent": 2}, producer_id=caller.producer.pk, type="-2+A1")
    answer = caller.send("GET", f"{_PATH}?metric=sent&by=type&step=total&format=csv")
    assert answer.content.decode().splitlines() == ["type,sent", "'-2+A1,2"]


def test_a_key_sees_its_own_producer_and_mode(
    make_caller: MakeCaller, make_rollup: MakeRollup
) -> None:
    mine = make_caller(scopes=["analytics:read"])
    other = make_caller("marketing")
    make_rollup(clock.now(), {"sent": 1}, producer_id=mine.producer.pk)
    make_rollup(clock.now(), {"sent": 2}, producer_id=other.producer.pk)
    make_rollup(clock.now(), {"sent": 4}, producer_id=mine.producer.pk, mode=Mode.TEST)

    def total(caller: Caller, **query: str) -> float:
        answer = caller.get(_PATH, metric="sent", step="total", **query)
        assert answer.status_code == 200, answer.content
        return sum(float(each["total"]) for each in answer.json()["groups"])

    assert total(mine) == 1
    assert total(make_caller(mode=Mode.TEST)) == 4
    assert mine.get(_PATH, metric="sent", producer="marketing").status_code == 403
    operator = make_caller(scopes=["analytics:read", "operations:read"])
    assert total(operator) == 1
    assert total(operator, producer="marketing") == 2
    by = operator.get(_PATH, metric="sent", step="total", producer="*", by="producer").json()
    assert [each["group"]["producer"] for each in by["groups"]] == ["marketing", "orders"]


@pytest.mark.parametrize(
    ("query", "pointer", "said"),
    [
        ("", "/metric", "required"),
        ("metric=sents", "/metric", "accepted"),
        ("metric=sent&by=weekday", "/by/0", "channel"),
        ("metric=sent&by=type&by=type", "/by", "different"),
        ("metric=sent&since=2001-01-01T00:00:00Z&until=2001-01-02T00:00:00Z", "/from", "kept"),
        ("metric=sent&since=2199-01-01T00:00:00Z", "/from", "start"),
        ("metric=sent&step=week", "/step", "minute"),
        ("metric=sent&producer=nobody", "/producer", "nobody"),
        ("metric=sent&until=2199-01-01T00:00:00Z&since={yesterday}&step=hour", "/step", "10000"),
        ("metric=sent&colour=red", "/colour", "unknown"),
    ],
)
def test_a_question_without_an_answer_names_the_fault(
    caller: Caller, query: str, pointer: str, said: str
) -> None:
    yesterday = _text(_hour() - dt.timedelta(days=1))
    answer = caller.get(f"{_PATH}?{query.format(yesterday=yesterday)}")
    assert answer.status_code == 422, answer.content
    [error] = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert said in error["detail"]
