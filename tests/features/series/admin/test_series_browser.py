# ruff: noqa: F811 - each test asks for the imported fixtures by name
"""The pages of series in a real browser: the figures refresh, and the pages suit all readers."""

from __future__ import annotations

import shutil

import pytest
from selenium.webdriver.common.keys import Keys

from notifications.features.series.models import Series, SeriesEnrolment
from tests.admin import axe
from tests.admin.chromium import (
    Browser,
)
from tests.features.series.admin.test_series import series  # noqa: F401 - the fixture
from tests.features.series.conftest import make
from tests.journey import caller, reach

__all__ = ["caller", "make", "reach"]

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_a_series_is_paused_by_keyboard_and_the_pages_suit_every_reader(
    browser: Browser, series: Series
) -> None:
    row = SeriesEnrolment.objects.get(user_id="old")
    browser.open(f"notifications/series/{series.pk}/change/")
    browser.see("summary").send_keys(Keys.ENTER)
    browser.see("#pause").send_keys(Keys.ENTER)
    browser.see("#steer button").send_keys(Keys.ENTER)
    browser.see("#resume")
    browser.wait_for("#history", "pause_series")
    SeriesEnrolment.objects.filter(user_id="new").update(problem="the lane is behind")
    browser.wait_for("#delayed", "the lane is behind")
    assert browser.errors() == []
    pages = {
        "series": f"notifications/series/{series.pk}/change/",
        "enrolment": f"notifications/seriesenrolment/{row.pk}/change/",
    }
    found: dict[str, list[str]] = {}
    for name, path in pages.items():
        browser.open(path)
        for look in axe.looks(browser.chrome):
            found[f"{name}-{look}"] = axe.violations(browser.chrome, name=f"{name}-{look}")
            if axe.scrolls_sideways(browser.chrome):
                found[f"{name}-{look}"].append("the page scrolls sideways")
    assert [f"{name}: {each}" for name, faults in found.items() for each in faults] == []
