"""A cost report has the groups of a month, the highest cost first."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest

from notifications.core.figures.questions import QuestionError
from notifications.core.models import BulkJob, BulkJobFigure, Producer
from notifications.core.rules.lane import Mode
from notifications.features.money import cost_report
from notifications.features.money.cost_report import CostGrouping
from tests.figures.conftest import MakeRollup

pytestmark = pytest.mark.django_db
NOW = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
MONTH = dt.date(2026, 11, 1)


@pytest.fixture(autouse=True)
def _now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notifications.core.clock.now", lambda: NOW)


def _lines(by: CostGrouping, month: dt.date = MONTH) -> list[tuple[str, int]]:
    report = cost_report.report(month, by=by, now=NOW)
    return [(each.name, each.micros) for each in report.lines]


def test_costs_are_grouped_by_producer_country_and_channel(make_rollup: MakeRollup) -> None:
    shop = Producer.objects.create(name="shop")
    bank = Producer.objects.create(name="bank")
    day = dt.timedelta(days=1)
    make_rollup(NOW - day, {"cost_micros": 30}, producer_id=shop.pk, country="DE")
    make_rollup(NOW - 2 * day, {"cost_micros": 50}, producer_id=bank.pk, country="US")
    make_rollup(NOW - 3 * day, {"cost_micros": 5}, producer_id=bank.pk, country="")
    make_rollup(NOW - 30 * day, {"cost_micros": 999}, producer_id=bank.pk)
    make_rollup(NOW, {"cost_micros": 777}, producer_id=bank.pk, mode=Mode.TEST)
    assert _lines(CostGrouping.PRODUCER) == [("bank", 55), ("shop", 30)]
    assert _lines(CostGrouping.COUNTRY) == [("US", 50), ("DE", 30), ("", 5)]
    assert _lines(CostGrouping.CHANNEL) == [("sms", 85)]
    report = cost_report.report(MONTH, by=CostGrouping.PROVIDER, now=NOW)
    assert report.micros == 85
    assert report.forecast is not None
    assert report.forecast > report.micros
    october = cost_report.report(dt.date(2026, 10, 1), by=CostGrouping.PRODUCER, now=NOW)
    assert (october.micros, october.forecast) == (999, None)


def test_a_bulk_job_is_in_the_month_of_its_start() -> None:
    for micros, days in ((70, 3), (90, 4), (400, 40)):
        job = _job(f"job of {micros}", started_at=NOW - dt.timedelta(days=days))
        for variant, count in (("", micros - 10), ("b", 10)):
            BulkJobFigure.objects.create(
                job=job, variant=variant, kind="total", name="cost_micros", count=count
            )
    assert _lines(CostGrouping.BULK_JOB) == [("job of 90", 90), ("job of 70", 70)]


def _job(name: str, *, started_at: dt.datetime) -> BulkJob:
    return BulkJob.objects.create(
        id=uuid.uuid4(),
        producer=Producer.objects.get_or_create(name="shop")[0],
        name=name,
        audience={"everyone": True},
        type="PROMO",
        template_id="promo",
        template=1,
        spread="first",
        starts_at=started_at,
        started_at=started_at,
        created_at=started_at,
    )


@pytest.mark.parametrize("month", [dt.date(2026, 12, 1), dt.date(2020, 1, 1)])
def test_a_month_without_figures_is_refused(month: dt.date) -> None:
    with pytest.raises(QuestionError):
        cost_report.report(month, by=CostGrouping.PRODUCER, now=NOW)


@pytest.mark.parametrize("text", ["2026-13", "2026-00", "26-11", "2026-11-01", "", "NaN"])
def test_a_wrong_month_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a month"):
        cost_report.month_of(text)
