"""A person who knows no HTML makes, translates, tests and publishes a mail in the browser."""

from __future__ import annotations

from typing import Final

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from notifications.core.models import Notification, Template
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser, write

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]
_BLOCKS: Final = "[name=email-blocks]"


def insert(browser: Browser, label: str, typed: str = "") -> None:
    """Press the button of a block, and type over the block that is then selected."""
    buttons = browser.chrome.find_elements(By.CSS_SELECTOR, ".nc-tools button")
    pressed = next(button for button in buttons if button.text == label)
    # Through the page: the bar at the bottom may lie over the button.
    browser.chrome.execute_script("arguments[0].click()", pressed)
    if typed:
        browser.see(_BLOCKS).send_keys(typed)


def blocks(browser: Browser) -> list[str]:
    """Return the labels of the list of blocks."""
    found = browser.chrome.find_elements(By.CSS_SELECTOR, ".nc-blocks [data-act=select]")
    return [each.text for each in found]


def wait_for_look(browser: Browser, name: str, text: str) -> None:
    """Press a look of the preview, and wait until the mail in the look has the text."""
    browser.click(f"[data-look={name}]")
    browser.wait_for_in_frame(".nc-frame iframe", "td.sheet", text)


def test_a_mail_is_made_of_blocks_translated_tested_and_published(browser: Browser) -> None:
    template = Template.objects.create(template_id="order_sent")
    page = f"notifications/template/{template.pk}/editor"
    browser.open(f"{page}?channel=email")
    _make(browser)
    _arrange(browser)
    _preview(browser)
    browser.see(_BLOCKS).send_keys(Keys.CONTROL, "s")
    browser.wait_for("#told", "Saved.")
    browser.open(f"{page}?locale=de")
    german = _translate(browser)
    browser.click("#editor a[href*='/publish']")
    browser.click("#content form button[type=submit]")
    browser.see("a[href*='/draft']")
    template.refresh_from_db()
    assert template.published_by == "operator"
    assert [text.locale for text in template.texts.order_by("locale")] == ["de", "en"]
    assert template.texts.get(locale="de").blocks == german
    assert "Ansehen</a>" in str(Notification.objects.get().content)
    assert browser.errors() == []


def _make(browser: Browser) -> None:
    write(browser, "[name=email-title]", "Your order {{ number }}")
    insert(browser, "Image", '![Acme](https://img.example/logo.png "120")')
    insert(browser, "Heading", "# Thank you, {{ name }}")
    insert(browser, "Table")
    insert(browser, "Button", "::: button [Follow your order](https://shop.example)")
    insert(browser, "Image", "![A red chair](https://img.example/chair.png)")
    browser.wait_for(".nc-blocks", "image: A red chair")
    assert [name.partition(":")[0] for name in blocks(browser)] == [
        *("image", "heading", "table", "button", "image")
    ]


def _arrange(browser: Browser) -> None:
    browser.see("[data-sample=items]")  # the boxes of the variables move the list
    # By the keyboard: the button moves above the table.
    browser.see(".nc-blocks li:nth-child(4) [data-act=select]").send_keys(Keys.ALT, Keys.ARROW_UP)
    assert [name.partition(":")[0] for name in blocks(browser)] == [
        *("image", "heading", "button", "table", "image")
    ]
    # By the mouse: the picture moves above the button.
    picture = browser.see(".nc-blocks li:nth-child(5)")
    target = browser.see(".nc-blocks li:nth-child(3)")
    # From the middle of the window: the bar at the bottom may lie over the picture.
    browser.chrome.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
    ActionChains(browser.chrome).drag_and_drop(picture, target).perform()
    assert [name.partition(":")[0] for name in blocks(browser)] == [
        *("image", "heading", "image", "button", "table")
    ]


def _preview(browser: Browser) -> None:
    # The variables of the mail got boxes, with a list for the table.
    field = browser.see("[data-sample=name]")
    named = {box.get_attribute("data-sample") for box in _samples(browser)}
    assert named == {"items", "name", "number"}
    field.clear()
    field.send_keys("Ada")
    wait_for_look(browser, "desktop", "Thank you, Ada")
    wait_for_look(browser, "phone", "Follow your order")
    wait_for_look(browser, "dark", "Article")
    # The list of the table is a table of boxes, without JSON.
    browser.click("[data-sample=items] [data-act=add-row]")
    cell = browser.see("[data-sample=items] tbody tr:nth-child(2) input")
    cell.clear()
    cell.send_keys("Red chair")
    wait_for_look(browser, "desktop", "Red chair")
    browser.click("[data-look=text]")
    browser.wait_for(".nc-frame pre", "Follow your order (https://shop.example)")
    # A broken block has its line and its name, and nothing is lost.
    insert(browser, "Columns", "::: columns")
    browser.wait_for("[data-channel=email] .nc-bad", "blocks, line")
    browser.wait_for("[data-channel=email] .nc-bad", "columns: the block has no ::: end")
    browser.click(".nc-blocks li:last-child [data-act=remove]")


def _translate(browser: Browser) -> str:
    # The German mail begins with the English one.
    browser.click("a[href*='copy=yes']")
    write(browser, "[name=email-title]", "Ihre Bestellung {{ number }}")
    field = browser.see(_BLOCKS)
    english = str(field.get_property("value"))
    german = english.replace("Thank you", "Danke").replace("Follow your order", "Ansehen")
    field.clear()
    field.send_keys(german)
    wait_for_look(browser, "desktop", "Danke, Ada")
    browser.click("[data-channel=email] [value=send]")
    browser.wait_for("[data-channel=email] .nc-told", "Sent to the sandbox.")
    browser.see(_BLOCKS).send_keys(Keys.CONTROL, "s")
    browser.wait_for("#told", "Saved.")
    return german


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_editor_of_a_mail_follows_wcag_at_each_size(browser: Browser) -> None:
    source = "# Hello {{ name }}\n\n::: button [Pay](https://shop.example)\n\n- one\n- two"
    mail = TextSource(channel=Channel.EMAIL, locale="en", title="Hi", blocks=source)
    content = contents.content([contents.normalize(mail)])
    template = versions.draft("order_sent", content, by="ana")
    browser.open(f"notifications/template/{template.pk}/editor")
    found: list[str] = []
    for name in axe.looks(browser.chrome):
        wait_for_look(browser, "desktop", "Hello Name")
        found += axe.violations(browser.chrome, name=f"mail-editor-{name}")
        assert not axe.scrolls_sideways(browser.chrome), name
    assert found == []


def _samples(browser: Browser) -> list[WebElement]:
    return browser.chrome.find_elements(By.CSS_SELECTOR, "[data-sample]")
