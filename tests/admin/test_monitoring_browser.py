# ruff: noqa: F811 - each test asks for the imported fixture `browser` by name
"""Overview in a real browser: it follows the database without a reload, and suits every reader."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from notifications.core import clock
from notifications.core.models import Alert
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import alerts, plot_annotations, rollups
from tests.admin.chromium import (
    Browser,
)
from tests.admin.conftest import MakeDelivery
from tests.browser_wait import WAIT_SECONDS, wait_until
from tests.figures.conftest import MakeRollup, make_rollup  # noqa: F401 - the fixture

AXE: Final = Path(__file__).parents[2] / ".ci/axe/node_modules/axe-core/axe.min.js"
SIZES: Final = {"desktop": (1440, 900), "phone": (390, 844)}

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def hold(make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason=Reason.BREAKER)
    delivery.due_at = clock.now() + dt.timedelta(seconds=30)
    delivery.save()


def query(browser: Browser) -> dict[str, list[str]]:
    return parse_qs(urlsplit(browser.chrome.current_url).query)


def show(browser: Browser, *, size: str, theme: str) -> None:
    """Set the window and unfold's theme, and load Overview."""
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
    browser.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    kept = "localStorage.setItem('adminTheme', JSON.stringify(arguments[0]))"
    browser.chrome.execute_script(kept, theme)
    browser.open("")
    browser.wait_for("#freshness", "Updated")


def violations(browser: Browser) -> list[Any]:
    browser.chrome.execute_script(AXE.read_text())
    found: list[Any] = browser.chrome.execute_async_script(
        "const done = arguments[0];"
        "axe.run('#monitoring', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        ".then(found => done(found.violations.map(each => [each.id, each.nodes.map("
        "node => node.html.slice(0, 200))])))"
    )
    return found


def test_a_new_message_appears_without_a_reload(
    browser: Browser,
    make_delivery: MakeDelivery,
) -> None:
    rollups.count_next(limit=1_000)  # counting begins now
    browser.open("")
    browser.wait_for("#waits", "Nothing waits")
    browser.wait_for("#plot-traffic .nc-series b", "0")
    browser.chrome.execute_script("window.isTheSamePage = true")
    hold(make_delivery)
    browser.wait_for("#waits", "p2.email")
    browser.wait_for("[data-part=verdict]", "1 delivery waits, the oldest since")
    make_delivery(status=Status.DELIVERED)
    rollups.count_next(limit=1_000)
    browser.wait_for("#plot-traffic .nc-series b", "1")
    alerts.raise_once(AlertKind.BREAKER_OPEN, "smtp email", "5 failures")
    browser.wait_for("#alerts", "smtp email")
    assert browser.chrome.execute_script("return window.isTheSamePage") is True
    browser.click("#alerts a[href*='/alert/']")
    browser.see("#content")
    assert f"/alert/{Alert.objects.get().pk}/" in browser.chrome.current_url
    assert browser.errors() == []


def test_the_time_range_is_in_the_url_and_the_back_button_works(
    browser: Browser,
) -> None:
    browser.open("")
    browser.click("[data-range='24h']")
    browser.wait_for("[data-range][aria-current]", "24h")
    assert query(browser) == {"range": ["24h"]}
    browser.click("[data-range='7d']")
    browser.wait_for("[data-range][aria-current]", "7d")
    browser.chrome.back()
    browser.wait_for("[data-range][aria-current]", "24h")
    browser.chrome.refresh()
    browser.wait_for("[data-range][aria-current]", "24h")
    browser.wait_for("#freshness", "Updated")
    assert browser.errors() == []


def test_dragging_over_a_plot_zooms_and_the_back_button_ends_the_zoom(
    browser: Browser, make_rollup: MakeRollup
) -> None:
    make_rollup(clock.now() - dt.timedelta(minutes=20), {"sent": 7, "failed": 1})
    browser.open("")
    browser.wait_for("#plot-traffic .nc-series b", "7")
    canvas = browser.see("#plot-traffic canvas")
    browser.chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    drag = ActionChains(browser.chrome).move_to_element(canvas).click_and_hold()
    drag.move_by_offset(120, 0).release().perform()
    browser.wait_for("#range-in-words", " to ")
    zoomed = query(browser)
    since, until = (dt.datetime.fromisoformat(zoomed[name][0]) for name in ("from", "to"))
    assert dt.timedelta(minutes=2) < until - since < dt.timedelta(minutes=50)
    browser.chrome.refresh()
    browser.wait_for("#range-in-words", " to ")
    browser.wait_for("#freshness", "Fixed time")
    assert query(browser) == zoomed
    browser.chrome.back()
    browser.wait_for("[data-range][aria-current]", "1h")
    assert browser.errors() == []


def test_a_plot_has_its_numbers_as_a_table_and_a_series_can_be_switched_off(
    browser: Browser, make_rollup: MakeRollup
) -> None:
    make_rollup(clock.now() - dt.timedelta(minutes=20), {"sent": 7})
    browser.open("")
    browser.wait_for("#plot-traffic .nc-series b", "7")
    browser.see("#plot-traffic summary").send_keys(Keys.ENTER)
    browser.wait_for("#plot-traffic table", "7")
    assert "Sent 7" in str(browser.see("#plot-traffic canvas").get_attribute("aria-label"))
    browser.see("#plot-traffic .nc-series button").send_keys(Keys.ENTER)
    browser.see("#plot-traffic .nc-series button[aria-pressed=false]")
    make_rollup(clock.now() - dt.timedelta(minutes=20), {"sent": 2})
    browser.wait_for("#plot-traffic .nc-series b", "9")
    browser.see("#plot-traffic .nc-series button[aria-pressed=false]")
    assert browser.errors() == []


def test_a_fixed_time_is_chosen_with_the_keyboard(
    browser: Browser,
) -> None:
    browser.open("?from=2026-01-02T10:00Z&to=2026-01-02T12:00Z")
    browser.wait_for("#range-in-words", "2026-01-02 10:00 to 2026-01-02 12:00 UTC")
    browser.see("#fixed-range summary").send_keys(Keys.ENTER)
    browser.see("#fixed-range [name=to]").send_keys(Keys.ENTER)
    wait_until(browser.chrome, lambda: query(browser)["from"] == ["2026-01-02T10:00:00Z"])
    browser.see("#end-zoom").send_keys(Keys.ENTER)
    browser.wait_for("[data-range][aria-current]", "1h")
    assert browser.errors() == []


def test_a_server_that_is_gone_is_told(
    browser: Browser,
    make_delivery: MakeDelivery,
) -> None:
    hold(make_delivery)
    browser.open("")
    browser.wait_for("#waits", "p2.email")
    browser.chrome.execute_cdp_cmd("Network.enable", {})
    cut = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    browser.chrome.execute_cdp_cmd("Network.emulateNetworkConditions", cut)
    browser.wait_for("#no-answer", "The server does not answer. The figures are those of")
    browser.wait_for("#waits", "p2.email")
    back = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.chrome.execute_cdp_cmd("Network.emulateNetworkConditions", back)
    wait_until(
        browser.chrome,
        lambda: not browser.chrome.find_element("id", "no-answer").is_displayed(),
        seconds=2 * WAIT_SECONDS,
    )


@pytest.mark.skipif(not AXE.exists(), reason="no axe-core here: npm ci --prefix .ci/axe")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_the_pages_are_accessible(
    browser: Browser,
    make_delivery: MakeDelivery,
    make_rollup: MakeRollup,
    size: str,
    theme: str,
) -> None:
    show(browser, size=size, theme=theme)
    browser.wait_for("#first", "first one")
    assert violations(browser) == []
    hold(make_delivery)
    alerts.raise_once(AlertKind.BREAKER_OPEN, "smtp email", "5 failures")
    plot_annotations.record_deploy("1.8.0")
    browser.wait_for("#waits", "p2.email")
    make_delivery(status=Status.FAILED, reason=Reason.PERMANENT)
    make_rollup(clock.now(), {"sent": 7, "read": 2, "cost_micros": 9}, provider="sandbox")
    make_rollup(clock.now(), {"failed": 1}, provider="sandbox", reason="permanent")
    browser.wait_for("#changes", "Release 1.8.0")
    browser.wait_for("#failing", "sandbox")
    assert violations(browser) == []
    width = browser.chrome.execute_script("return document.documentElement.scrollWidth")
    assert width <= SIZES[size][0]
