"""The preference page in a real browser: by keyboard, without scripts, in each look."""

from __future__ import annotations

import pytest
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from notifications.core import clock
from notifications.core.delivery import preference_links
from notifications.core.models import Preference, Recipient
from providers.contract import Channel
from tests.admin import axe
from tests.browser_wait import wait_until
from tests.preference_browser import NEEDS_BROWSER

pytestmark = [NEEDS_BROWSER, pytest.mark.django_db(transaction=True)]


def _url(live_server: LiveServer, person: Recipient, language: str) -> str:
    token = preference_links.token_of(person.pk, now=clock.now())
    return f"{live_server.url}{preference_links.PATH}{token}?language={language}"


def test_a_choice_is_made_by_keyboard_and_without_scripts(
    live_server: LiveServer, chrome: Chrome, maria: Recipient
) -> None:
    chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    chrome.get(_url(live_server, maria, "en"))
    box = chrome.find_element(By.CSS_SELECTOR, "input[value='social/email']")
    box.send_keys(Keys.SPACE)
    chrome.find_element(By.CSS_SELECTOR, "summary").send_keys(Keys.ENTER)
    chrome.find_element(By.CSS_SELECTOR, "input[value='ORDER_SHIPPED/push']").send_keys(Keys.SPACE)
    digest = Select(chrome.find_element(By.CSS_SELECTOR, "select[name=digest]"))
    assert digest.first_selected_option.text == "At once"
    digest.select_by_value("marketing/daily")
    chrome.find_element(By.CSS_SELECTOR, "button[type=submit]").send_keys(Keys.ENTER)
    status = wait_until(chrome, lambda: chrome.find_element(By.CSS_SELECTOR, "[role=status]"))
    assert status.text == "Your changes are saved."
    assert chrome.title.startswith("Your changes are saved.")
    assert chrome.switch_to.active_element == status
    row = Preference.objects.get()
    assert row.topics_left == {"email": ["social"], "push": ["ORDER_SHIPPED"]}
    assert row.digests == {"marketing": "daily"}
    assert not chrome.find_element(By.CSS_SELECTOR, "input[value='social/email']").is_selected()
    mandatory = chrome.find_element(By.CSS_SELECTOR, "input[value='security/email']")
    assert (mandatory.is_selected(), mandatory.is_enabled()) == (True, False)


@pytest.mark.skipif(not axe.SCRIPT.exists(), reason="npm ci --prefix .ci/axe --ignore-scripts")
@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_page_suits_everybody_in_each_look(
    live_server: LiveServer, chrome: Chrome, maria: Recipient, language: str
) -> None:
    Preference.objects.create(
        recipient=maria,
        channels_off=[Channel.PUSH],
        quiet_hours=[{"start": "22:00", "end": "07:00", "days": ["fri"]}],
    )
    chrome.get(_url(live_server, maria, language))
    for look in axe.looks(chrome):
        chrome.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert axe.violations(chrome, name=f"preferences-{language}-{look}") == []
        assert not axe.scrolls_sideways(chrome), look
