"""Chromium for the tests of the admin: one process for a file, one window for a test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Final

import pytest
from django.contrib.auth.models import User
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.browser_wait import wait_until

CHROMIUM: Final = shutil.which("chromium")
CHROMEDRIVER: Final = shutil.which("chromedriver")
FLAGS: Final = (
    *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
    *("disable-background-networking", "disable-component-update", "disable-sync"),
    "window-size=1500,1000",
)


class Browser:
    """Chromium, signed in, with the waits that make a test bounded and never asleep."""

    def __init__(self, chrome: Chrome, *, base: str) -> None:
        self.chrome = chrome
        self.base = base

    def open(self, path: str) -> None:
        self.chrome.get(f"{self.base}/admin/{path}")

    def see(self, selector: str) -> WebElement:
        return wait_until(self.chrome, lambda: self._find(selector))

    def wait_for(self, selector: str, text: str) -> None:
        wait_until(self.chrome, lambda: text in self._find(selector).text, f"{selector}: {text}")

    def wait_for_in_frame(self, frame: str, selector: str, text: str) -> None:
        """Wait for the text of an element in a frame, which may be replaced during the wait."""

        def has_text() -> bool:
            self.chrome.switch_to.frame(self._find(frame))
            try:
                return text in self._find(selector).text
            finally:
                self.chrome.switch_to.default_content()

        wait_until(self.chrome, has_text, f"{frame} {selector}: {text}")

    def text(self, selector: str) -> str:
        """The text of the element, as soon as there is some."""
        return wait_until(self.chrome, lambda: self._find(selector).text)

    def click(self, selector: str) -> None:
        # Through the page: unfold's sticky bars may lie over what stands at the edge.
        def pressed() -> bool:
            self.chrome.execute_script("arguments[0].click()", self._find(selector))
            return True

        wait_until(self.chrome, pressed, selector)

    def _find(self, selector: str) -> WebElement:
        return self.chrome.find_element(By.CSS_SELECTOR, selector)

    def menu(self) -> list[str]:
        """Where the items of the side menu lead, below `/admin/`."""
        items = self.chrome.find_elements(By.CSS_SELECTOR, "nav a[href*='/admin/']")
        pages = (str(item.get_attribute("href")).partition("/admin/")[2] for item in items)
        return list(dict.fromkeys(pages))

    def errors(self) -> list[str]:
        """What the console says went wrong, but for the icon that every browser asks for."""
        lines = self.chrome.get_log("browser")  # type: ignore[no-untyped-call]  # selenium's own
        severe = [line["message"] for line in lines if line["level"] == "SEVERE"]
        return [message for message in severe if "/favicon.ico" not in message]


def write(browser: Browser, selector: str, text: str) -> None:
    field = browser.see(selector)
    field.clear()
    field.send_keys(text)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Start Chromium with a window that stays empty."""
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=ChromeService(CHROMEDRIVER))
    try:
        yield chrome
    finally:
        chrome.quit()


@pytest.fixture
def browser(live_server: LiveServer, operator: User, chromium: Chrome) -> Iterator[Browser]:
    """Sign the operator in, in a window without the cookies and the storage of other tests."""
    [empty] = chromium.window_handles
    chromium.switch_to.new_window("window")  # without the sizes and themes of other tests
    chromium.execute_cdp_cmd("Network.clearBrowserCookies", {})
    kept = {"origin": live_server.url, "storageTypes": "all"}
    chromium.execute_cdp_cmd("Storage.clearDataForOrigin", kept)
    try:
        signed_in = Browser(chromium, base=live_server.url)
        signed_in.errors()  # those of the test before
        signed_in.open("")
        signed_in.see("[name=username]").send_keys(operator.username)
        signed_in.see("[name=password]").send_keys("a-long-password")
        signed_in.click("[type=submit]")
        signed_in.see("#monitoring")
        yield signed_in
    finally:
        chromium.close()
        chromium.switch_to.window(empty)
