"""Writes the pictures of the documents into docs/assets: `make pictures`, beside a running demo.

Needs Chromium, and the demo right after its stories: the pictures show Overview, the page of the
last message with an SMS, the inbox of the demo's page, and the editor with a mail in blocks.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By

from providers.contract import Channel
from tests.browser_wait import wait_until

_ROOT: Final = Path(__file__).resolve().parents[2]
_FOLDER: Final = _ROOT / "docs" / "assets"
_KEYS: Final = _ROOT / "var" / "demo_keys.json"
_WINDOW: Final = (1500, 1050)
"""Width and height in pixels."""
_MESSAGES: Final = (
    ("Order ORD-4520 is ready", "Burger Palace has your order. The counter closes at 22:00."),
    ("A friend has sent you a voucher", "10 EUR for your next order, until Sunday."),
    ("Your invoice for November", "Two orders, 41.80 EUR. Open the app for the details."),
)
"""Titles and bodies of the messages in the inbox."""
_MAIL: Final = """\
# Hello {{ name }}

The autumn menu is here, until the end of November.

::: table dish in dishes
| Dish | Price |
| --- | --: |
| {{ dish.name }} | {{ dish.price }} |
::: end

::: button [Reserve a table](https://palace.example/tables)

[Unsubscribe]({{ unsubscribe_url }})
"""
_SAMPLES: Final = {
    "name": "Ada",
    "dishes": [{"name": "Pumpkin burger", "price": "9.90"}, {"name": "Apple pie", "price": "4.50"}],
}


def main() -> None:
    """Take the pictures of the demo whose variables the environment has."""
    base = os.environ["NOTIFY_PUBLIC_URL"]
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "hide-scrollbars",
        "force-prefers-reduced-motion",
    ):
        options.add_argument(f"--{flag}")
    chrome = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))
    try:
        chrome.set_window_size(*_WINDOW)
        _sign_in(chrome, base)
        _take(chrome, f"{base}/admin/", shows="canvas", name="overview")
        _take(chrome, _last_sms(chrome, base), shows="table", name="message")
        _fill_inbox(base)
        _take(chrome, f"{base}/demo/inbox", shows="notify-inbox", name="inbox", opens_inbox=True)
        _draft_mail(base)
        _take(chrome, _editor(chrome, base), shows=".nc-frame iframe", name="editor")
    finally:
        chrome.quit()


def _sign_in(chrome: Chrome, base: str) -> None:
    chrome.get(f"{base}/admin/login/")
    chrome.find_element(By.NAME, "username").send_keys("operator")
    chrome.find_element(By.NAME, "password").send_keys(os.environ["DEMO_ADMIN_PASSWORD"])
    chrome.find_element(By.CSS_SELECTOR, "form button[type=submit]").click()


def _take(
    chrome: Chrome, address: str, *, shows: str, name: str, opens_inbox: bool = False
) -> None:
    """Store the picture of a page, when the page shows an element."""
    chrome.get(address)
    wait_until(chrome, lambda: chrome.find_elements(By.CSS_SELECTOR, shows))
    if opens_inbox:
        inside = "return document.querySelector('notify-inbox').shadowRoot.querySelector('{}')"
        wait_until(chrome, lambda: chrome.execute_script(inside.format("button"))).click()
        wait_until(chrome, lambda: chrome.execute_script(inside.format("article, .card")))
    wait_until(chrome, lambda: chrome.execute_script("return document.readyState") == "complete")
    wait_until(chrome, lambda: not chrome.find_elements(By.CSS_SELECTOR, "[aria-busy=true]"))
    chrome.save_screenshot(str(_FOLDER / f"{name}.png"))


def _last_sms(chrome: Chrome, base: str) -> str:
    """Return the address of the page of the last message with an SMS."""
    chrome.get(f"{base}/admin/notifications/notification/activity/?channel={int(Channel.SMS)}")
    link = chrome.find_element(By.CSS_SELECTOR, "td.nc-time a")
    return str(link.get_attribute("href")).partition("#")[0]


def _fill_inbox(base: str) -> None:
    for number, (title, body) in enumerate(_MESSAGES):
        message: dict[str, object] = {
            "user_id": "u_789012",
            "type": "ORDER_READY",
            "channels": ["in_app"],
            "content": {"title": title, "body": body},
            "idempotency_key": f"picture-{number}",
        }
        _post(f"{base}/v1/notifications", message)


def _draft_mail(base: str) -> None:
    text = {"channel": "email", "locale": "en", "title": "The autumn menu", "blocks": _MAIL}
    types = {"name": "string", "dishes": "list"}
    variables = [
        {"name": name, "type": types[name], "example": example}
        for name, example in _SAMPLES.items()
    ]
    draft: dict[str, object] = {"template_id": "autumn_menu", "texts": [text]}
    draft["variables"] = variables
    _post(f"{base}/v1/templates", draft)


def _editor(chrome: Chrome, base: str) -> str:
    """Return the address of the editor of the drafted mail."""
    chrome.get(f"{base}/admin/notifications/template/?q=autumn_menu")
    links = "a[href*='/notifications/template/'][href*='/change']"
    link = chrome.find_element(By.CSS_SELECTOR, f"#result_list {links}")
    return str(link.get_attribute("href")).replace("/change/", "/editor").partition("?")[0]


def _post(address: str, body: dict[str, object]) -> None:
    key = json.loads(_KEYS.read_text())["tutorial"]
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    with urlopen(Request(address, json.dumps(body).encode(), headers)):  # noqa: S310 - the demo's own URL
        pass


if __name__ == "__main__":
    main()
