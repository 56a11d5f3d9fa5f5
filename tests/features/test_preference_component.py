"""`<notify-preferences>` in a real browser: by keyboard, in each look."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.shadowroot import ShadowRoot
from selenium.webdriver.support.select import Select

from notifications.core.models import (
    NotificationType,
    Preference,
    Producer,
    Recipient,
)
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import api_keys
from providers.contract import Channel
from tests.admin import axe
from tests.browser_wait import wait_until
from tests.preference_browser import NEEDS_BROWSER

pytestmark = [NEEDS_BROWSER, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def token(settings: Settings, maria: Recipient) -> str:
    """A token for the component, in a page of a producer."""
    settings.ROOT_URLCONF = "tests.features.preference_site"
    producer = Producer.objects.create(name="shop")
    _, secret = api_keys.issue(
        producer, mode=Mode.LIVE, scopes={"recipients:*", "preferences:write"}
    )
    answer = Client(headers={"Authorization": f"Bearer {secret}"}).post(
        f"/v1/recipients/{maria.user_id}/client-tokens",
        {"scopes": ["preferences:read", "preferences:write"]},
        content_type="application/json",
    )
    text: str = answer.json()["token"]
    return text


def _open_component(live_server: LiveServer, chrome: Chrome, token: str, locale: str) -> ShadowRoot:
    chrome.get(f"{live_server.url}/settings-page?token={token}&locale={locale}")
    return _component(chrome)


def _component(chrome: Chrome) -> ShadowRoot:
    """Return the content of the component after the first answer."""
    host = chrome.find_element(By.CSS_SELECTOR, "notify-preferences")
    wait_until(chrome, lambda: host.shadow_root.find_elements(By.CSS_SELECTOR, "fieldset"))
    return host.shadow_root


def _wait_for_status(chrome: Chrome, root: ShadowRoot, text: str) -> None:
    wait_until(chrome, lambda: root.find_element(By.CSS_SELECTOR, "[role=status]").text == text)


def test_the_component_saves_each_choice_at_once(
    live_server: LiveServer, chrome: Chrome, token: str
) -> None:
    root = _open_component(live_server, chrome, token, "en")
    box = root.find_element(By.CSS_SELECTOR, "[data-key='social/email']")
    box.send_keys(Keys.SPACE)
    _wait_for_status(chrome, root, "Saved.")
    assert Preference.objects.get().topics_left == {"email": ["social"]}
    digest = Select(root.find_element(By.CSS_SELECTOR, "[data-key='marketing/digest']"))
    assert digest.first_selected_option.text == "At once"
    digest.select_by_value("weekly")
    wait_until(chrome, lambda: Preference.objects.get().digests == {"marketing": "weekly"})
    _wait_for_status(chrome, root, "Saved.")
    mandatory = root.find_element(By.CSS_SELECTOR, "[data-key='security/email']")
    assert (mandatory.is_selected(), mandatory.is_enabled()) == (True, False)
    # An operator makes a type mandatory after the page was drawn.
    NotificationType.objects.filter(name="SALE").update(is_mandatory=True)
    notification_types.forget()
    sale = root.find_element(By.CSS_SELECTOR, "[data-key='marketing/email']")
    sale.send_keys(Keys.SPACE)
    _wait_for_status(chrome, root, "The change was not saved.")
    assert sale.is_selected()
    root.find_element(By.CSS_SELECTOR, "[data-key='/push']").send_keys(Keys.SPACE)
    _wait_for_status(chrome, root, "Saved.")
    push = root.find_element(By.CSS_SELECTOR, "[data-key='social/push']")
    assert (push.is_selected(), push.is_enabled()) == (False, False)
    language = Select(root.find_element(By.CSS_SELECTOR, "[data-key=locale]"))
    language.select_by_value("ar")
    _wait_for_status(chrome, root, "Saved.")
    assert Recipient.objects.get().locale == "ar"
    row = Preference.objects.get()
    assert (row.channels_left, row.topics_left) == ([Channel.PUSH], {"email": ["social"]})


def test_a_refused_choice_goes_back_and_the_choice_before_it_stays(
    live_server: LiveServer, chrome: Chrome, token: str
) -> None:
    root = _open_component(live_server, chrome, token, "en")
    NotificationType.objects.filter(name="SALE").update(is_mandatory=True)
    notification_types.forget()
    chrome.execute_script(
        "for (const key of ['social/email', 'marketing/email'])"
        " arguments[0].querySelector(`[data-key='${key}']`).click()",
        root,
    )
    _wait_for_status(chrome, root, "The change was not saved.")
    assert Preference.objects.get().topics_left == {"email": ["social"]}
    social, sale = (
        root.find_element(By.CSS_SELECTOR, f"[data-key='{key}']")
        for key in ("social/email", "marketing/email")
    )
    assert (social.is_selected(), sale.is_selected()) == (False, True)
    assert not sale.is_enabled(), "the mandatory topic is drawn as such"


def test_the_component_says_that_nobody_is_signed_in(
    live_server: LiveServer, chrome: Chrome, settings: Settings
) -> None:
    settings.ROOT_URLCONF = "tests.features.preference_site"
    chrome.get(f"{live_server.url}/settings-page?token=a.b.c&locale=de")
    host = chrome.find_element(By.CSS_SELECTOR, "notify-preferences")
    wait_until(
        chrome, lambda: "anmelden" in host.shadow_root.find_element(By.CSS_SELECTOR, ".root").text
    )


@pytest.mark.skipif(not axe.SCRIPT.exists(), reason="npm ci --prefix .ci/axe --ignore-scripts")
@pytest.mark.parametrize("locale", ["en", "ar"])
def test_the_component_suits_everybody_in_each_look(
    live_server: LiveServer, chrome: Chrome, token: str, locale: str
) -> None:
    root = _open_component(live_server, chrome, token, locale)
    direction = root.find_element(By.CSS_SELECTOR, ".root").get_attribute("dir")
    assert direction == ("rtl" if locale == "ar" else "ltr")
    for look in axe.looks(chrome):
        root = _component(chrome)
        for each in root.find_elements(By.CSS_SELECTOR, "summary"):
            each.send_keys(Keys.ENTER)
        assert axe.violations(chrome, name=f"component-{locale}-{look}") == []
        assert not axe.scrolls_sideways(chrome), look
