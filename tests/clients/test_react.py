"""The React module of the TypeScript client in a browser, with the real service beneath."""

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
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, FLAGS
from tests.browser_wait import wait_until
from tests.clients.typescript import ROOT, checked
from tests.features.inbox.inboxes import add_message

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]
_KEY = ["recipients:*", "inbox:read", "inbox:write", "preferences:write"]
_SCOPES = ["inbox:read", "inbox:write", "preferences:read", "preferences:write"]


class Page:
    """A browser on the page that React makes."""

    def __init__(self, chrome: Chrome, url: str, tokens: dict[str, str]) -> None:
        self.chrome = chrome
        self.url = url
        self._tokens = tokens

    def sign_in(self, name: str) -> None:
        self.chrome.delete_all_cookies()
        self.chrome.add_cookie({"name": "token", "value": self._tokens[name]})

    def run(self, script: str) -> Any:  # noqa: ANN401 - JSON
        return self.chrome.execute_script(script)

    def wait(self, condition: str) -> None:
        wait_until(
            self.chrome,
            lambda: self.run(f"return {condition}"),
            f"not {condition}: {self.run('return [window.now, window.heard]')}",
        )


@pytest.fixture
def page(npm: str, live_server: LiveServer, settings: Settings, tmp_path: Path) -> Iterator[Page]:
    checked(npm, "run", "build")
    state.client().flushdb()
    settings.ROOT_URLCONF = "tests.clients.react_site"
    producer = Producer.objects.create(name="shop")
    _, secret = api_keys.issue(producer, mode=Mode.LIVE, scopes=_KEY)
    back_end = Client(headers={"Authorization": f"Bearer {secret}"})
    tokens = {}
    for name in ("maria", "ana"):
        add_message(Recipient.objects.create(user_id=name).pk, title=f"for {name}")
        path = f"/v1/recipients/{name}/client-tokens"
        asked = back_end.post(path, {"scopes": _SCOPES}, content_type="application/json")
        assert asked.status_code == 201, asked.json()
        tokens[name] = asked.json()["token"]
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (*FLAGS, f"user-data-dir={tmp_path}"):
        options.add_argument(f"--{flag}")
    chrome = Chrome(options=options, service=ChromeService(CHROMEDRIVER))
    opened = Page(chrome, live_server.url, tokens)
    chrome.get(f"{opened.url}/client/react.js")
    opened.sign_in("maria")
    chrome.get(f"{opened.url}/shop")
    yield opened
    chrome.quit()


def test_the_hook_shows_the_inbox_and_another_person_gets_another_inbox(page: Page) -> None:
    page.wait("document.getElementById('own')?.textContent === 'live: for maria'")
    page.run("inbox.markRead(now.items[0].message_id)")
    page.wait("window.now.counts.unread === 0 && now.waiting === 0")
    page.run("window.former = inbox")
    page.sign_in("ana")
    page.run("draw('ana')")
    page.wait("document.getElementById('own')?.textContent === 'live: for ana'")
    assert page.run("return inbox !== former && now.counts.unread") == 1


def test_the_hook_for_react_native_has_the_class_with_it(page: Page) -> None:
    page.wait("document.getElementById('app-inbox')?.textContent === 'for maria'")
    [person] = Recipient.objects.filter(user_id="maria")
    add_message(person.pk, title="and another")
    subscriptions = page.run("toForeground(); return subscribed.length")
    page.wait("document.getElementById('app-inbox')?.textContent === 'and anotherfor maria'")
    assert page.run("return subscribed.length") == subscriptions, "a render is no new subscription"
    page.sign_in("ana")
    page.run("draw('ana')")
    page.wait("document.getElementById('app-inbox')?.textContent === 'for ana'")


def test_the_components_are_the_elements_with_their_properties_and_events(page: Page) -> None:
    page.wait("document.querySelector('notify-inbox.bell')?.open")
    page.wait("window.heard?.includes('notify-counts') && heard.includes('notify-toggle')")
    page.wait("document.querySelector('notify-preferences')?.preferences")
    assert (
        page.run("return document.querySelector('notify-preferences').getAttribute('locale')")
        == "de"
    )
    state = "document.querySelector('notify-inbox.{}')?.inbox?.getSnapshot().state"
    page.wait(f"{state.format('own')} === 'live' && {state.format('nobody')} === 'signed_out'")
    page.run("draw('nobody')")
    page.wait("!document.querySelector('notify-inbox').open")
    page.wait(f"{state.format('own')} === 'signed_out'")
    own = "document.querySelector('notify-inbox.own').inbox.getSnapshot()"
    assert page.run(f"return [{own}.items.length, {own}.counts.unread]") == [0, 0]
    page.run("leave()")
    assert page.run("return document.querySelector('notify-inbox')") is None
    lines = page.chrome.get_log("browser")  # type: ignore[no-untyped-call]  # selenium's own
    severe = [each["message"] for each in lines if each["level"] == "SEVERE"]
    assert [each for each in severe if "/favicon.ico" not in each] == []


def test_a_service_without_answer_is_an_error_with_a_sentence(page: Page) -> None:
    page.wait("document.getElementById('own')?.textContent === 'live: for maria'")
    script = (
        "const {createElement: h} = packages.react;"
        "const {useInbox} = await import('/client/react.js');"
        "const No = () => { const found = useInbox({baseUrl: location.origin + '/none'});"
        " window.failed = found; return null; };"
        "packages['react-dom/client'].createRoot(document.createElement('div')).render(h(No));"
    )
    page.run(f"(async () => {{ {script} }})()")
    page.wait("window.failed?.state === 'error'")
    found = page.run("return {message: failed.error.message, code: failed.error.code}")
    assert found["code"] == "script_not_loaded"
    assert found["message"].startswith("The script of the inbox cannot be loaded from http")


def test_the_types_of_the_package_are_those_of_the_service() -> None:
    static = ROOT.parents[1] / "notifications/features/inbox/static/notifications/inbox"
    _, service = (static / "notify-inbox.d.ts").read_text().split("\n", 1)
    _, package = (ROOT / "src" / "inbox.ts").read_text().split("\n", 1)
    assert package == service
