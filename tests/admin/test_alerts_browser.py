"""The operator's alert, in a real browser: from Overview to its page, acknowledged."""

from __future__ import annotations

import pytest

from notifications.core.alerting import destinations
from notifications.core.models import Alert, AlertDestination
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def test_an_alert_is_acknowledged_from_its_own_page(browser: Browser) -> None:
    alerts.raise_once(AlertKind.PROVIDER_MISCONFIGURED, "ses email", "it refused our credentials")
    alerts.raise_once(AlertKind.BREAKER_OPEN, "ses email", "paused: 401")
    alerts.raise_once(AlertKind.SWEEP_OFF, "relay", "relay is switched off")
    alerts.link_causes()
    cause = Alert.objects.get(kind="provider_misconfigured")
    browser.open("notifications/alert/")
    listed = browser.text("#result_list")
    assert "A provider refuses our account: ses email" in listed
    assert "is paused" not in listed, "the covered alert is hidden"
    browser.click(f"#result_list a[href*='/alert/{cause.pk}/change/']")
    assert browser.text(f"a[href*='#{cause.kind}']") == "What to look at and what to do"
    browser.click(f"a[href*='/{cause.pk}/acknowledge']")
    browser.see("[name=owner]").send_keys("mail team")
    browser.click("#content form button[type=submit]")
    browser.wait_for("#content", "acknowledged")
    cause.refresh_from_db()
    assert cause.owner == "mail team"
    assert browser.errors() == []


def test_a_destination_is_added_without_showing_its_url(browser: Browser) -> None:
    browser.open("notifications/alertdestination/add/")
    browser.see("[name=name]").send_keys("oncall")
    browser.see("[name=url]").send_keys("mailto:oncall@shop.example")
    browser.click("[name=_save]")
    browser.wait_for("#result_list", "o***@shop.example")
    row = AlertDestination.objects.get()
    browser.open(f"notifications/alertdestination/{row.pk}/change/")
    assert browser.see("[name=url]").get_attribute("value") == ""
    assert destinations.parse_row(row).address == "oncall@shop.example"
    assert browser.errors() == []
