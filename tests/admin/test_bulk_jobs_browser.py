# ruff: noqa: F811 - each test asks for the imported fixture `browser` by name
"""A bulk job is watched in a real browser; the pages suit all readers."""

from __future__ import annotations

import shutil

import pytest
from selenium.webdriver.common.keys import Keys

from notifications.models import BulkJob, BulkJobRange
from tests.admin import axe
from tests.admin.test_browser import (
    Browser,
    browser,  # noqa: F401 - the fixture
)
from tests.admin.test_bulk_jobs import job  # noqa: F401 - the fixture

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def test_the_figures_refresh_and_the_focus_stays(browser: Browser, job: BulkJob) -> None:
    browser.open(f"notifications/bulkjob/{job.pk}/change/")
    pause = browser.see("#pause")
    browser.chrome.execute_script("arguments[0].focus()", pause)
    BulkJobRange.objects.filter(job=job).update(examined=2_500_000)
    browser.wait_for("#progress", "2,500,000 of about 5,000,000")
    assert browser.chrome.switch_to.active_element == pause
    pause.send_keys(Keys.ENTER)
    browser.see("[name=reason]").send_keys("wrong price", Keys.ENTER)
    browser.wait_for("#history", "wrong price")
    browser.see("#resume")
    assert browser.errors() == []


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_pages_suit_every_reader_at_each_size(browser: Browser, job: BulkJob) -> None:
    pages = {
        "bulk-jobs": "notifications/bulkjob/",
        "bulk-job": f"notifications/bulkjob/{job.pk}/change/",
        "bulk-job-cancel": f"notifications/bulkjob/{job.pk}/cancel/",
    }
    found: dict[str, list[str]] = {}
    for name, path in pages.items():
        browser.open(path)
        for look in axe.looks(browser.chrome):
            found[f"{name}-{look}"] = axe.violations(browser.chrome, name=f"{name}-{look}")
            if axe.scrolls_sideways(browser.chrome):
                found[f"{name}-{look}"].append("the page scrolls sideways")
    assert [f"{name}: {each}" for name, faults in found.items() for each in faults] == []
