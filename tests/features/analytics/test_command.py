"""The report of a day has exact figures, beside the day before and the week before."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from notifications.core import clock
from notifications.core.models import Alert, DeadLetter, Producer
from notifications.core.rules.lane import Mode, Priority
from providers.contract import Channel
from tests.figures.conftest import MakeRollup, make_rollup

__all__ = ["make_rollup"]
pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def report(*options: str) -> str:
    out = io.StringIO()
    call_command("report", "daily", *options, stdout=out)
    return out.getvalue()


def figures(*options: str) -> dict[tuple[str, str, str], tuple[float | None, ...]]:
    lines: list[dict[str, Any]] = json.loads(report("--json", *options))["lines"]
    return {
        (line["group"], line["name"], line["figure"]): (
            line["value"],
            line["day_before"],
            line["week_before"],
        )
        for line in lines
    }


@pytest.fixture
def yesterday() -> dt.datetime:
    return clock.now() - DAY


def test_figures_stand_beside_the_day_before_and_the_week_before(
    make_rollup: MakeRollup, yesterday: dt.datetime
) -> None:
    shop = Producer.objects.create(name="=shop")
    for back, sent in ((0, 10), (1, 5), (7, 8)):
        make_rollup(yesterday - back * DAY, {"sent": sent}, producer_id=shop.pk)
    make_rollup(yesterday, {"sent": 3}, channel=Channel.EMAIL, producer_id=shop.pk)
    make_rollup(yesterday, {"sent": 99}, mode=Mode.TEST, producer_id=shop.pk)
    make_rollup(clock.now(), {"sent": 50}, producer_id=shop.pk)
    found = figures()
    assert found["all", "", "sent"] == (13, 5, 8)
    assert found["channel", "email", "sent"] == (3, 0, 0)
    assert found["channel", "sms", "sent"] == (10, 5, 8)
    assert found["producer", "=shop", "sent"] == (13, 5, 8)
    assert found["all", "", "accept_to_call_p95"] == (None, None, None)
    assert figures("--day", f"{yesterday - DAY:%Y-%m-%d}")["all", "", "sent"] == (5, 0, 0)


def test_failures_have_reasons_and_cost_is_money(
    make_rollup: MakeRollup, yesterday: dt.datetime
) -> None:
    make_rollup(yesterday, {"failed": 4}, reason="permanent")
    make_rollup(yesterday, {"cost_micros": 2_500_000})
    found = figures()
    assert found["failed by reason", "permanent", "failed"] == (4, 0, 0)
    assert found["all", "", "cost"] == (2.5, 0, 0)
    text = report()
    assert "failed by reason permanent" in text
    assert "2.50" in text


def test_dead_letters_and_alerts_of_the_day(yesterday: dt.datetime) -> None:
    for number, at in enumerate((yesterday, yesterday - DAY, clock.now())):
        DeadLetter.objects.create(
            delivery_id=clock.new_notification_id(),
            mode=Mode.LIVE,
            priority=Priority.P1,
            channel=Channel.SMS,
            producer_id=1,
            recipient_id=number,
            reason="permanent",
            snapshot={},
            created_at=at,
        )
    alert = Alert.objects.create(kind="beat_dead", subject="", detail="x")
    Alert.objects.filter(pk=alert.pk).update(raised_at=yesterday)
    found = figures()
    assert found["operations", "", "dead letters"] == (1, 1, 0)
    assert found["operations", "", "alerts raised"] == (1, 0, 0)


def test_a_csv_file_has_no_formulas(make_rollup: MakeRollup, yesterday: dt.datetime) -> None:
    shop = Producer.objects.create(name="=shop")
    make_rollup(yesterday, {"sent": 10}, producer_id=shop.pk)
    rows = list(csv.reader(io.StringIO(report("--csv"))))
    assert rows[0][:4] == ["day", "group", "name", "figure"]
    assert "'=shop" in {row[2] for row in rows}
    assert len({len(row) for row in rows}) == 1


def test_a_day_that_is_not_kept_and_no_day_are_told() -> None:
    with pytest.raises(CommandError, match="There is no report of 2001-01-01"):
        report("--day", "2001-01-01")
    with pytest.raises(CommandError, match="is no day"):
        report("--day", "yesterday")
    for day in ("9999-12-31", "0001-01-05"):
        with pytest.raises(CommandError, match="to today"):
            report("--day", day)


def test_producers_beyond_the_limit_of_a_day_are_other(
    make_rollup: MakeRollup, yesterday: dt.datetime
) -> None:
    make_rollup(yesterday, {"sent": 3}, producer_id=0)
    assert figures()["producer", "other", "sent"] == (3, 0, 0)
