"""The preference page and `<notify-preferences>` in a real browser: by keyboard, in each look."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver import Chrome, ChromeOptions, ChromeService, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.shadowroot import ShadowRoot
from selenium.webdriver.support.select import Select

from notifications import clock
from notifications.delivery import preference_links
from notifications.models import (
    Contact,
    NotificationType,
    Preference,
    Producer,
    Recipient,
    TopicText,
)
from notifications.rules.lane import Mode
from notifications.store.cached import notification_types, topic_texts
from notifications.store.postgres import api_keys
from providers.contract import Channel
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, FLAGS
from tests.browser_wait import wait_until

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def maria() -> Recipient:
    """Somebody with three channels, and topics of each kind."""
    for name, priority, category in (
        ("OTP", 0, "security"),
        ("ORDER_READY", 1, "orders"),
        ("ORDER_SHIPPED", 2, "orders"),
        ("LIKE", 2, "social"),
        ("SALE", 3, "marketing"),
    ):
        NotificationType.objects.create(name=name, priority=priority, category=category)
    NotificationType.objects.filter(name="ORDER_READY").update(is_mandatory=True)
    NotificationType.objects.filter(name="SALE").update(digest_template="sales")
    for topic, locale, name, description in (
        ("orders", "en", "Orders", "What becomes of your orders."),
        ("orders", "ar", "الطلبات", "أخبار طلباتك."),
        ("social", "ar", "التفاعلات", ""),
        ("marketing", "ar", "العروض", ""),
        ("security", "ar", "الأمان", ""),
    ):
        TopicText.objects.create(topic=topic, locale=locale, name=name, description=description)
    notification_types.forget()
    topic_texts.forget()
    person = Recipient.objects.create(user_id="maria", timezone="Europe/Berlin")
    for channel, address in ((Channel.EMAIL, "maria@example.com"), (Channel.PUSH, "phone")):
        Contact.objects.create(recipient=person, channel=channel, address=address, is_primary=True)
    return person


@pytest.fixture
def chrome(tmp_path: Path) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"user-data-dir={tmp_path}"):
        options.add_argument(f"--{flag}")
    driver = Chrome(options=options, service=ChromeService(CHROMEDRIVER))
    try:
        yield driver
    finally:
        driver.quit()


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
