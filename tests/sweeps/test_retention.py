"""Without the feature `archive`, days past retention are dropped if there is no archive."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

import pytest

from notifications.core import clock, conf
from notifications.core.models import Alert, ArchiveDay
from notifications.core.store.postgres import partitions
from notifications.core.sweeps import retention
from notifications.core.sweeps.rounds import Swept
from tests.old_days import drop_day
from tests.past_rows import fill

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def day() -> Iterator[dt.date]:
    """A day past retention."""
    past = clock.now().date() - conf.current().retention - dt.timedelta(days=2)
    fill(past, notifications=4, people=2)
    yield past
    drop_day(past)


def _sweep(monkeypatch: pytest.MonkeyPatch, archive_url: str) -> Swept:
    configured = replace(conf.current(), archive_url=archive_url)
    monkeypatch.setattr(conf, "current", lambda: configured)
    return retention.run_once(now=clock.now(), limit=10)


def test_a_day_is_dropped(day: dt.date, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _sweep(monkeypatch, conf.NO_ARCHIVE) == Swept(moved=1)
    assert partitions.present(day) == []
    assert ArchiveDay.objects.get(day=day).state == "not_archived"


def test_a_day_stays_while_an_archive_is_wanted(
    day: dt.date, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _sweep(monkeypatch, "file:///archive") == Swept(failed=1)
    assert len(partitions.present(day)) == len(partitions.TABLES)
    assert "INSTALLED_APPS" in ArchiveDay.objects.get(day=day).problem
    assert "INSTALLED_APPS" in Alert.objects.get(kind="archive_late", resolved_at=None).detail
    assert _sweep(monkeypatch, conf.NO_ARCHIVE) == Swept(moved=1)
    assert not Alert.objects.filter(kind="archive_late", resolved_at=None).exists()
