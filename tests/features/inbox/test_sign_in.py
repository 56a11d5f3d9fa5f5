"""`<notify-inbox>` while people sign in and out, and while answers are late or missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from notifications.core.models import Producer, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import api_keys
from notifications.core.store.redis import state
from notifications.features.brands import rows
from notifications.features.brands.models import Brand
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, FLAGS
from tests.browser_wait import wait_until
from tests.features.inbox.inboxes import add_message, add_messages

_PRELUDE = """
    const element = document.querySelector("notify-inbox");
    const shown = element?.inbox?.getSnapshot();
    const titles = shown?.items.map((item) => item.title).join();
"""
_HOOK = """
if (!window.calls) {
const original = window.fetch;
Object.assign(window, {calls: [], hold: Promise.resolve(), refuse: () => false});
window.fetch = async (url, options = {}) => {
  window.calls.push({path: String(url), method: options.method, at: performance.now()});
  const {refuse} = window;
  if (refuse(String(url), options)) return new Response("{}", {status: refuse.status});
  const response = await original(url, options);
  const text = await response.clone().text();
  await window.hold;
  if (options.signal?.aborted) throw new DOMException("aborted", "AbortError");
  return new Response(text, response);
};
}
"""
"""The `fetch` of a page notes the calls; a test holds or refuses answers."""
_REFUSE = """
    window.ended = arguments[0];
    window.refuse = (_, {headers}) => headers?.Authorization === "Bearer " + window.ended;
    window.refuse.status = 401;
"""

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


class Shop:
    """A browser on the site; `tokens` are those of Maria and Ana."""

    def __init__(self, chrome: Chrome, url: str, tokens: dict[str, str]) -> None:
        self.chrome = chrome
        self.url = url
        self.tokens = tokens

    def sign_in(self, name: str | None) -> None:
        """Change the session of the site: a name of `tokens`, `html`, or None for nobody."""
        self.chrome.delete_all_cookies()
        if name:
            self.chrome.add_cookie({"name": "token", "value": self.tokens.get(name, name)})

    def open(self) -> str:
        added = {"source": _HOOK}
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", added)
        self.chrome.get(f"{self.url}/shop")
        return self.chrome.current_window_handle

    def run(self, script: str, *given: object) -> Any:  # noqa: ANN401 - JSON
        return self.chrome.execute_script(_PRELUDE + script, *given)

    def wait(self, condition: str) -> None:
        wait_until(
            self.chrome,
            lambda: self.run(f"return {condition}"),
            f"not {condition}: {self.run('return {...shown, titles}')}",
        )

    def refuse(self, token: str) -> None:
        """Answer 401 to requests with a token, as after the token's end."""
        self.run(_REFUSE + "element.inbox.refresh().catch(() => {})", token)


@pytest.fixture
def people() -> dict[str, Recipient]:
    state.client().flushdb()
    found = {name: Recipient.objects.create(user_id=name) for name in ("maria", "ana")}
    for name, recipient in found.items():
        add_message(recipient.pk, title=f"for {name}")
    return found


@pytest.fixture
def shop(
    live_server: LiveServer, people: dict[str, Recipient], settings: Settings, tmp_path: Path
) -> Iterator[Shop]:
    settings.ROOT_URLCONF = "tests.features.inbox.site"
    scopes = ["inbox:read", "inbox:write"]
    _, secret = api_keys.issue(
        Producer.objects.create(name="shop"), mode=Mode.LIVE, scopes={"recipients:*", *scopes}
    )
    back_end = Client(headers={"Authorization": f"Bearer {secret}"})
    tokens = {
        name: back_end.post(
            f"/v1/recipients/{name}/client-tokens",
            {"scopes": scopes},
            content_type="application/json",
        ).json()["token"]
        for name in people
    }
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"user-data-dir={tmp_path}"):
        options.add_argument(f"--{flag}")
    chrome = Chrome(options=options, service=ChromeService(CHROMEDRIVER))
    opened = Shop(chrome, live_server.url, tokens)
    opened.open()
    opened.sign_in("maria")
    opened.open()
    opened.wait("shown?.state === 'live'")
    yield opened
    chrome.quit()


def test_a_sign_in_of_another_person_shows_nothing_of_the_former_in_any_tab(shop: Shop) -> None:
    first = shop.chrome.current_window_handle
    assert shop.run("return titles") == "for maria"
    shop.run("element.inbox.retry()")  # the tab goes on to tell the other tabs
    shop.chrome.switch_to.new_window("tab")
    second = shop.open()
    shop.wait("shown?.state === 'live' && titles === 'for maria'")
    shop.sign_in("ana")
    shop.refuse(shop.tokens["maria"])
    shop.wait("titles === 'for ana' && shown.counts.unread === 1")
    shop.chrome.switch_to.window(first)
    shop.wait("titles === 'for ana' && shown.counts.unread === 1")
    shop.sign_in(None)
    shop.refuse(shop.tokens["ana"])
    for window in (first, second):
        shop.chrome.switch_to.window(window)
        shop.wait("shown.state === 'signed_out' && titles === '' && shown.counts.unread === 0")


def test_a_mark_of_the_former_person_is_not_sent_for_the_next(shop: Shop) -> None:
    shop.sign_in("ana")
    shop.run(
        _REFUSE + "const {inbox} = element;"
        "Promise.allSettled([inbox.readAll(), inbox.archiveAll()]).then("
        "(all) => (window.codes = all.map(({reason}) => reason?.code)))",
        shop.tokens["maria"],
    )
    shop.wait("titles === 'for ana' && shown.state === 'live' && window.codes")
    assert shop.run("return window.codes") == ["other_recipient", "other_recipient"]
    assert shop.run("return shown.counts.unread") == 1


def test_a_token_url_that_answers_with_a_page_is_asked_again(shop: Shop) -> None:
    shop.sign_in("html")
    shop.open()
    shop.wait("shown?.error?.code === 'no_token'")
    shop.sign_in("maria")
    shop.wait("shown.state === 'live' && titles === 'for maria'")


def test_without_a_token_the_panel_says_that_nobody_is_signed_in(shop: Shop) -> None:
    shop.run("element.removeAttribute('token-url'); element.token = null; element.open = true")
    shop.wait("shown.state === 'signed_out' && !element.shadowRoot.querySelector('.note').hidden")


def test_the_component_has_the_look_of_the_brand_and_opens_as_asked_before_its_script(
    shop: Shop,
) -> None:
    accent = "getComputedStyle(element).getPropertyValue('--accent').trim()"
    assert shop.run(f"return [element.open, {accent}]") == [False, "#4f46e5"]
    brand = Brand.objects.create(
        name="Shop", color="#b91c1c", font="georgia", logo_url="https://cdn.shop.example/logo.png"
    )
    rows.forget()
    shop.chrome.get("about:blank")
    shop.chrome.get(f"{shop.url}/shop#open")
    shop.wait(f"element.open && {accent} === '{brand.color}'")
    shop.wait("element.shadowRoot.querySelector('.logo').alt === 'Shop'")
    shop.wait("element.shadowRoot.querySelector('.logo').hidden")  # no server has the image
    shop.run("window.brand = shown.brand; element.inbox.show({tab: 'archived'})")
    shop.wait("shown.loaded && shown.brand !== window.brand")
    assert shop.run("return element.shadowRoot.querySelector('.logo').hidden")
    assert shop.run("return getComputedStyle(element).fontFamily").startswith("Georgia")
    shop.run("element.setAttribute('theme', 'dark')")
    shop.wait(f"{accent} === '{rows.to_brand(brand).color_on_dark}'")
    shop.run("element.style.setProperty('--notify-accent', '#0f766e')")
    assert shop.run(f"return {accent}") == "#0f766e"
    shop.run("element.removeAttribute('style'); element.setAttribute('brand', 'none')")
    assert shop.run(f"return [{accent}, element.shadowRoot.querySelector('.logo').hidden]") == [
        "#a5b4fc",
        True,
    ]
    rows.forget()


def test_an_element_that_is_removed_while_a_list_loads_asks_for_nothing_more(shop: Shop) -> None:
    shop.run(
        "window.hold = new Promise((resolve) => (window.release = resolve));"
        "window.inbox = element.inbox;"
        "window.loading = inbox.show({tab: 'archived'}); element.remove();"
        "window.release(); window.loading.then(() => (window.count = calls.length))"
    )
    shop.wait("window.count")
    shop.run("dispatchEvent(new Event('online')); window.later = window.calls.length")
    assert (
        shop.run("return [window.calls.length, window.later]")
        == [shop.run("return window.count")] * 2
    )


def test_a_message_that_arrives_while_a_list_loads_is_shown(
    shop: Shop, people: dict[str, Recipient]
) -> None:
    shop.run(
        "const inner = window.fetch; window.done = [];"
        "const until = (name) => new Promise((resolve) => (window[name] = resolve));"
        "const [page, changes] = [until('releasePage'), until('sendChanges')];"
        "window.fetch = async (url, options) => {"
        "  const isPage = String(url).includes('tab='); if (!isPage) await changes;"
        "  const response = await inner(url, options); done.push(isPage); if (isPage) await page;"
        "  return response; };"
        "element.inbox.refresh().then(() => (window.known = true)); element.inbox.show()"
    )
    shop.wait("window.done.length")  # the service has read the page without the message
    add_message(people["maria"].pk, title="late")
    shop.run("window.sendChanges()")
    shop.wait("window.known")
    shop.run("window.releasePage()")
    shop.wait("titles === 'late,for maria' && shown.counts.unread === 2")


def test_a_page_that_fails_is_asked_for_with_pauses(
    shop: Shop, people: dict[str, Recipient]
) -> None:
    add_messages(people["maria"].pk, 60)
    shop.open()
    shop.wait("shown?.state === 'live' && shown.items.length === 50")
    shop.run(
        "window.refuse = (url) => url.includes('cursor='); window.refuse.status = 500;"
        "const more = () => element.inbox.loadMore().catch(more); more()"
    )
    shop.wait("window.calls.filter(({path}) => path.includes('cursor=')).length > 2")
    gaps: list[float] = shop.run(
        "const at = calls.filter(({path}) => path.includes('cursor=')).map((call) => call.at);"
        "return at.slice(1).map((each, place) => each - at[place])"
    )
    assert min(gaps) >= 400, "the client waits half a second or longer before it asks again"
    shop.run("window.refuse = () => false")
    shop.wait("shown.items.length === 61")
