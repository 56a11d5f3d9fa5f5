"""Insights and the page of a provider in a real browser suit every reader."""

from __future__ import annotations

import pytest

from notifications.core import clock
from notifications.core.rules.states import Status
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser
from tests.admin.conftest import MakeDelivery
from tests.figures.conftest import MakeRollup

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
@pytest.mark.parametrize("path", ["insights/", "insights/provider/sandbox/"])
def test_the_pages_suit_every_reader_at_each_size(
    browser: Browser, make_delivery: MakeDelivery, make_rollup: MakeRollup, path: str
) -> None:
    make_delivery(status=Status.FAILED)
    make_rollup(clock.now(), {"sent": 7, "read": 2, "cost_micros": 9}, provider="sandbox")
    make_rollup(clock.now(), {"failed": 1}, provider="sandbox", reason="permanent")
    browser.open(path)
    found: dict[str, list[str]] = {}
    for look in axe.looks(browser.chrome):
        browser.wait_for("[data-part=tiles]", "Sent")
        found[look] = axe.violations(browser.chrome, name=f"{path.replace('/', '-')}{look}")
        if axe.scrolls_sideways(browser.chrome):
            found[look].append("the page scrolls sideways")
    assert {look: faults for look, faults in found.items() if faults} == {}
    assert browser.errors() == []
