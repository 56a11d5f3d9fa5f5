"""The calendar shows the bulk jobs of a month or a week, at most some for each day."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from notifications.core.models import BulkJob, Producer
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.store.postgres import db

CALENDAR: Final = reverse("admin:notifications_bulkjob_calendar")
NOON: Final = dt.datetime(2026, 11, 24, 12, 0, tzinfo=dt.UTC)

pytestmark = pytest.mark.django_db


def make_job(name: str, starts_at: dt.datetime = NOON, **more: Any) -> BulkJob:  # noqa: ANN401 - any column
    producer, _ = Producer.objects.get_or_create(name="shop")
    return BulkJob.objects.create(
        producer=producer,
        name=name,
        audience={"everyone": True},
        type="PROMO",
        template_id="sale",
        template=1,
        spread="first",
        starts_at=starts_at,
        created_at=NOON,
        created_by="maria",
        **more,
    )


def day_of(page: str, date: str) -> str:
    """Return the text of a day of the page."""
    found = re.search(rf'<time datetime="{date}">.*?(?=<time |</section>)', page, re.DOTALL)
    assert found, date
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def test_a_month_has_each_job_at_the_day_of_its_start(door: Client) -> None:
    for state in BulkJobState:
        make_job(f"job {state}", state=state)
    make_job("last minute", NOON.replace(day=30, hour=23, minute=59))
    make_job("on their clocks", send_at_local="2026-12-01T09:00")
    make_job("at a time of day", send_at_local="09:00")
    make_job("of another month", NOON.replace(month=6))
    page = door.get(CALENDAR, {"date": "2026-11-10"}).content.decode()
    assert "November 2026" in page
    assert "23:59 scheduled last minute" in day_of(page, "2026-11-30")
    assert "09:00 their time, scheduled on their clocks" in day_of(page, "2026-12-01")
    assert "of another month" not in page
    week = door.get(CALENDAR, {"view": "week", "date": "2026-11-24"}).content.decode()
    assert "23 November to 29 November 2026" in week
    for state in BulkJobState:
        assert f"12:00 {state} job {state}" in day_of(week, "2026-11-24")
    assert "09:00 their time, scheduled at a time of day" in day_of(week, "2026-11-24")
    assert "Not finished:" in week


@pytest.mark.parametrize(("count", "is_said"), [(10, False), (11, True)])
def test_more_running_jobs_than_shown_are_said(door: Client, count: int, *, is_said: bool) -> None:
    for number in range(count):
        make_job(f"job {number}", state=BulkJobState.RUNNING)
    page = door.get(CALENDAR, {"date": "2026-11-10"}).content.decode()
    assert ("and further jobs of the list" in page) is is_said


def test_a_crowded_day_has_the_first_jobs_and_a_link(door: Client) -> None:
    for number in range(6):
        make_job(f"job {number}", NOON + dt.timedelta(minutes=number))
    page = door.get(CALENDAR, {"date": "2026-11-24"}).content.decode()
    assert "job 3" in page
    assert "job 4" not in page
    assert 'href="?view=week&amp;date=2026-11-24">More jobs' in page


@pytest.mark.parametrize("given", [{"date": "x"}, {"date": "0001-01-01"}, {"view": "year"}])
def test_a_wrong_address_is_told(door: Client, given: dict[str, str]) -> None:
    assert door.get(CALENDAR, given).status_code == 400


def test_the_ends_of_the_calendar_are_pages(door: Client) -> None:
    for date in ("1970-01-01", "2200-12-31"):
        for view in ("month", "week"):
            assert door.get(CALENDAR, {"date": date, "view": view}).status_code == 200


def test_an_empty_month_says_so_and_a_stranger_sees_nothing(door: Client, client: Client) -> None:
    assert "No bulk job starts in this month." in door.get(CALENDAR).content.decode()
    assert client.get(CALENDAR).status_code == 302


def test_a_day_is_found_by_an_index_for_each_kind_of_start() -> None:
    days = [NOON.date() + dt.timedelta(days=number) for number in range(7)]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        explained = f"EXPLAIN {db.statement('bulk_calendar')}"
        cursor.execute(explained, {"days": days, "limit": 5})
        plan = "\n".join(line for (line,) in cursor.fetchall())
    for index in ("bulk_job_by_start", "bulk_job_by_date"):
        assert f"Index Scan using {index}" in plan
    assert "Sort Key: b." not in plan
