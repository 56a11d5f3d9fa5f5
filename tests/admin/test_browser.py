"""The operator's hour, in a real browser: find what died, look at it, replay it, watch the job."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from notifications.core.models import (
    DeadLetter,
    Notification,
    NotificationType,
    Producer,
    Recipient,
    ReplayJob,
)
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.postgres import api_keys
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser, write

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def test_a_dead_letter_is_found_and_replayed(
    browser: Browser, make_letters: Callable[[list[str]], list[DeadLetter]]
) -> None:
    make_letters(["permanent", "ttl_exceeded"])
    browser.open("")
    browser.click("#dead-letters a[href*='reason=permanent']")
    browser.click("#result_list a[href*='/change/']")
    browser.click("a[href*='/deadletter/'][href*='/replay']")
    browser.wait_for("#content h2", "Replay 1 open dead letter?")
    browser.click("#content form button[type=submit]")
    browser.wait_for("#progress h2", "0 of 1")
    assert ReplayJob.objects.get().total == 1
    assert browser.errors() == []


def test_every_page_of_the_menu_opens_without_a_complaint_of_the_browser(
    browser: Browser, maria: Recipient
) -> None:
    pages = browser.menu()
    assert {"auth/user/", "second-factor/", "notifications/auditentry/"} <= set(pages)
    for page in (*pages, f"notifications/recipient/{maria.pk}/change/"):
        browser.open(page)
        browser.see("#content")
        assert browser.errors() == [], page


def test_a_folded_page_is_reached_from_the_menu_and_from_the_search_box(browser: Browser) -> None:
    browser.open("")
    item = browser.see(".nc-menu-folded a[href$='/sweeprun/']")
    assert not item.is_displayed()
    browser.see(".nc-menu-folded summary").send_keys(Keys.ENTER)
    assert item.is_displayed()
    item.click()
    browser.wait_for("h1", "Sweep runs")
    assert browser.text(".nc-menu-folded[open] a[aria-current=page]").endswith("Sweep runs")
    browser.see("body").send_keys(Keys.CONTROL, "k")
    browser.see("#search-input-command").send_keys("insi")
    browser.wait_for("#command-results", "Insights")
    assert browser.errors() == []


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_menu_suits_every_reader_at_each_size(browser: Browser) -> None:
    browser.open("notifications/sweeprun/")
    found: list[str] = []
    for look in axe.looks(browser.chrome):
        if look.startswith("phone"):
            browser.click("button.xl\\:hidden\\!")
        found += axe.violations(browser.chrome, name=f"menu-{look}")
    assert found == []


def test_a_provider_is_held_by_hand(browser: Browser) -> None:
    browser.open("notifications/breaker/")
    browser.click("#sandbox-push .nc-acts a")
    browser.see("[name=reason]").send_keys("it sends twice")
    browser.click("#switch button[type=submit]")
    browser.click("#switch button[name=confirmed]")
    browser.wait_for("#content", "it sends twice")
    browser.open("notifications/breaker/")
    browser.wait_for("#sandbox-push", "it sends twice")
    assert browser.errors() == []


@pytest.mark.parametrize("example", ["by_address", "plain_text"])
def test_the_docs_send_a_first_message_with_the_key_in_hand(browser: Browser, example: str) -> None:
    call_command("import_templates", "--publish", stdout=StringIO())
    NotificationType.objects.create(name="ORDER_READY", priority=Priority.P1)
    producer = Producer.objects.create(name="first", may_send_content=True)
    _, secret = api_keys.issue(producer, mode=Mode.TEST, scopes=["notifications:*"])
    browser.chrome.get(f"{browser.base}/v1/docs")
    browser.click(".swagger-ui .authorize")
    browser.see("[aria-label=auth-bearer-value]").send_keys(secret)
    browser.click(".auth-btn-wrapper .authorize")
    browser.click(".btn-done")
    browser.click("#operations-Notifications-create_notification .opblock-summary-control")
    examples = browser.see("#operations-Notifications-create_notification .examples-select select")
    Select(examples).select_by_value(example)
    browser.click("#operations-Notifications-create_notification .execute")
    browser.wait_for(".live-responses-table .response .response-col_status", "202")
    browser.wait_for(".live-responses-table", str(Notification.objects.get().pk))
    assert browser.errors() == []


def test_a_second_factor_is_set_up_on_its_page(browser: Browser) -> None:
    browser.open("second-factor/")
    assert browser.see(".nc-qr svg").size["width"] > 100
    device = TOTPDevice.objects.get()
    code = f"{totp(device.bin_key):06}"
    write(browser, "[name=code]", code)
    browser.click("#content form button[type=submit]")
    browser.wait_for("#content h2", "Your recovery codes")
    shown = browser.text("#content pre").split()
    assert len(shown) == len(set(shown)) == StaticToken.objects.count() > 0
    assert browser.errors() == []
