"""A provider is paused and resumed in a real browser, by buttons for a thumb; all screens do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from django.contrib.postgres.functions import TransactionNow
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from notifications.core.models import Delivery, NotificationType, Producer, Switch
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.core.store.cached import switches as cached
from notifications.features.cancel_jobs import jobs as cancel_jobs
from notifications.features.cancel_jobs.jobs import CancelFilter
from tests.admin import axe
from tests.admin.chromium import (
    Browser,
)
from tests.admin.conftest import MakeDelivery

LEAST_HEIGHT = 44
"""Pixels: WCAG 2.5.5."""
PAGES = {
    "breakers": "notifications/breaker/",
    "switches": "notifications/switch/",
    "hold-kind": "notifications/switch/add/",
    "hold-type": "notifications/switch/add/?kind=type",
    "hold": "notifications/switch/add/?kind=provider&value=sandbox&channel=3",
    "cancel-jobs": "notifications/canceljob/",
    "cancel": "notifications/canceljob/add/",
}

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    cached.forget()
    yield
    cached.forget()


def _hold(browser: Browser) -> None:
    browser.open("notifications/breaker/")
    browser.click("#sandbox-email .nc-acts a[href*='switch/add']")
    browser.see("[name=reason]").send_keys("bounces of the vendor", Keys.ENTER)
    browser.wait_for("#switch h2", "Hold provider sandbox on email, 30 minutes?")
    browser.click("[name=confirmed]")
    browser.wait_for("#switch h2", "holds deliveries")


def test_a_provider_is_held_and_let_go_with_a_thumb(
    browser: Browser, make_delivery: MakeDelivery
) -> None:
    row = make_delivery(status=Status.QUEUED)
    Delivery.objects.filter(pk=row.pk).update(priority=Priority.P0, due_at=TransactionNow())
    _hold(browser)
    browser.open("notifications/breaker/")
    browser.wait_for("#sandbox-email", "paused by an operator")
    buttons = browser.chrome.find_elements(By.CSS_SELECTOR, ".nc-acts a")
    assert min(button.size["height"] for button in buttons) >= LEAST_HEIGHT
    browser.click("#sandbox-email .nc-acts a[href*='resume']")
    browser.wait_for("#resume h2", "Resume provider sandbox on email?")
    browser.click("#resume [type=submit]")
    browser.wait_for("#switch h2", "ended")
    assert Switch.objects.get().resumed_by == "operator"
    assert not browser.errors()


def test_a_producer_is_held_on_a_phone_without_scripts_and_without_typing_its_name(
    browser: Browser,
) -> None:
    for name in ("order-service", "shop"):
        Producer.objects.create(name=name)
    browser.chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.chrome.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True},
    )
    browser.open("notifications/switch/add/")
    kinds = browser.chrome.find_elements(By.CSS_SELECTOR, ".nc-kinds a")
    assert min(each.size["height"] for each in kinds) >= LEAST_HEIGHT
    kinds[0].click()
    Select(browser.see("[name=value]")).select_by_visible_text("shop")
    assert browser.chrome.find_elements(By.NAME, "channel") == []
    browser.see("[name=reason]").send_keys("it sends twice", Keys.ENTER)
    browser.wait_for("#switch h2", "Hold producer shop, 30 minutes?")
    browser.see("[name=confirmed]").send_keys(Keys.ENTER)
    browser.wait_for("#switch h2", "holds deliveries")
    assert Switch.objects.get().value == "shop"


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_pages_suit_every_reader_at_each_size(
    browser: Browser, make_delivery: MakeDelivery
) -> None:
    NotificationType.objects.create(name="SALE", priority=Priority.P3, category="marketing")
    _hold(browser)
    held = make_delivery(status=Status.SCHEDULED, reason="channel_paused")
    row = Switch.objects.get()
    Delivery.objects.filter(pk=held.pk).update(
        priority=Priority.P0, due_at=TransactionNow(), switch_id=row.pk
    )
    job = cancel_jobs.start(CancelFilter(type="SALE"), requested_by="maria", by="maria")
    pages = {
        **PAGES,
        "switch": f"notifications/switch/{row.pk}/change/",
        "resume": f"notifications/switch/{row.pk}/resume/",
        "cancel-job": f"notifications/canceljob/{job.pk}/change/",
    }
    found: dict[str, list[str]] = {}
    for name, path in pages.items():
        browser.open(path)
        for look in axe.looks(browser.chrome):
            found[f"{name}-{look}"] = axe.violations(browser.chrome, name=f"{name}-{look}")
            if axe.scrolls_sideways(browser.chrome):
                found[f"{name}-{look}"].append("the page scrolls sideways")
    assert {name: faults for name, faults in found.items() if faults} == {}
