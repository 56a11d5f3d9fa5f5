"""`<notify-inbox>` in a browser, with the whole product behind it: one set of processes for all."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from selenium.webdriver.common.keys import Keys

from notifications.core.api import embed
from notifications.features import inbox
from notifyproj.demo_inbox import COMPONENT
from tests.admin.axe import SCRIPT
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM
from tests.scenarios.inbox_page import Device, Send, send_messages
from tests.scenarios.world import World

_MANY: Final = 500
SOURCES: Final = Path(inbox.__path__[0], "static", "notifications", "inbox")

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)


@pytest.fixture(scope="module")
def inbox_world(_world: World) -> World:
    """The product without a live process: the page polls."""
    _world.repair()
    return _world


@pytest.fixture(scope="module")
def device(inbox_world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Device]:
    """The browser of the tests."""
    made = Device(tmp_path_factory.mktemp("chromium"), url=inbox_world.url)
    yield made
    made.chrome.quit()


@pytest.fixture
def page(inbox_world: World, device: Device) -> Device:
    """The page with an empty inbox."""
    device.look()
    device.open_empty(inbox_world)
    return device


@pytest.fixture
def send(inbox_world: World) -> Send:
    """Return a function that sends a message for each title; it returns the notification ids."""
    return functools.partial(send_messages, inbox_world)


def test_a_refused_mark_is_taken_back(page: Device, send: Send) -> None:
    send("Yours")
    page.wait_for_change("shown.items.length === 1")
    page.ask(
        "const {inbox} = element; window.refused = [];"
        "inbox.addEventListener('refused', ({detail}) => refused.push(detail.error.status));"
        "inbox.archive('0198f2a4-6b00-7c3e-9d21-5f0c8e7a1001');"
        "inbox.snooze(shown.items[0].message_id, 0);"
    )
    page.wait_for("window.refused.length === 2 && shown.waiting === 0")
    assert page.ask("return [window.refused, shown.items.length, shown.counts.unread]") == [
        [404, 422],
        1,
        1,
    ]


def test_the_tabs_have_the_names_of_the_topics_in_each_language(page: Device, send: Send) -> None:
    shown = "[...root.querySelectorAll('.tab, .row .meta span')].map((each) => each.textContent)"
    send("Yours")
    page.wait_for_change("shown.items.length === 1")
    page.ask("element.open = true")
    for locale, name in (("ar", "الطلبات"), ("de", "Bestellungen"), ("en", "Orders")):
        page.ask("element.setAttribute('locale', arguments[0])", locale)
        page.wait_for(f"{shown}.filter((each) => each.startsWith('{name}')).length === 2")


def test_the_push_button_starts_the_worker_and_names_a_missing_key(page: Device) -> None:
    granted = {"origin": page.url, "permissions": ["notifications"]}
    page.chrome.execute_cdp_cmd("Browser.grantPermissions", granted)
    output = page.chrome.find_element("id", "push-state")
    page.wait(lambda: output.text == "Push is off in this browser.")
    page.chrome.find_element("id", "enable-push").click()
    page.wait(lambda: "NOTIFY_WEB_PUSH_PRIVATE_KEY" in output.text)
    scopes = "navigator.serviceWorker.getRegistrations().then((all) => all.map((e) => e.scope))"
    found = page.chrome.execute_async_script(f"{scopes}.then(arguments[0])")
    assert found == [f"{page.url}/demo/"]
    assert page.faults() == []


def test_the_keyboard_alone_reaches_everything(page: Device, send: Send) -> None:
    send("First", "Second", content={"actions": [{"id": "go", "label": "Track", "url": "/a"}]})
    page.wait_for_change("shown.items.length === 2")
    page.ask("root.querySelector('.bell').focus()")
    assert page.focus() == "Notifications, 2 unread"
    page.press(Keys.ENTER)
    page.wait_for("element.open && root.querySelectorAll('.row').length === 2")
    page.press(Keys.TAB)
    assert page.focus() == "Mark all as read"
    page.press(Keys.TAB, Keys.TAB)
    assert page.focus() == "All"
    page.press(Keys.ARROW_RIGHT)
    assert page.focus().startswith("Unread")
    page.wait_for("shown.view.unread && shown.loaded")
    page.press(Keys.ARROW_LEFT)
    page.wait_for(
        "!shown.view.unread && shown.loaded && root.querySelectorAll('.row').length === 2"
    )
    page.press(Keys.ARROW_DOWN)
    newest, oldest = page.titles()
    assert newest in page.focus()
    page.press(Keys.ARROW_DOWN)
    assert oldest in page.focus()
    page.press(Keys.ENTER)
    page.wait_for("shown.counts.unread === 1")
    page.press(Keys.TAB)
    assert page.focus() == "Track"
    page.press(Keys.ESCAPE)
    assert page.focus() == "Notifications, 1 unread", "the focus returns to the bell"
    assert page.ask("return element.open") is False
    page.press(Keys.ENTER, Keys.SHIFT + Keys.TAB)
    page.wait_for("element.open")
    assert page.focus() != "Notifications, 1 unread", "the panel keeps the focus"
    assert page.faults() == []


def test_the_keyboard_archives_and_snoozes(page: Device, send: Send) -> None:
    send("First", "Second")
    page.wait_for_change("shown.items.length === 2")
    _, oldest = page.titles()
    page.ask("element.open = true; element.inbox.readAll()")
    page.wait_for("root.querySelectorAll('.row').length === 2 && shown.waiting === 0")
    page.ask("root.querySelector('.row').focus()")
    page.press(Keys.DELETE)
    page.wait_for("shown.items.length === 1 && shown.counts.unread === 0")
    assert oldest in page.focus(), "the focus goes to the next message"
    page.ask("root.querySelector('.row .tools .icon:last-child').focus()")
    page.press(Keys.ENTER, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert "In an hour" in page.focus()
    page.press(Keys.ENTER)
    page.wait_for("shown.items.length === 0 && shown.waiting === 0")
    assert page.faults() == []


def test_five_hundred_messages_stay_the_same_rows(page: Device, send: Send) -> None:
    sent = send(*(f"Message {number}" for number in range(_MANY)))
    page.wait_for_change(f"shown.counts.unread === {_MANY}")
    assert page.badge() == "99+"
    page.open()
    page.ask("element.open = true")
    for loaded in range(100, _MANY + 1, 50):
        page.ask("root.querySelector('.scroll').scrollTop = 1e9")
        page.wait_for(f"root.querySelectorAll('.row').length >= {loaded}")
    ids = page.ask("return shown.items.map((item) => item.notification_id)")
    assert sorted(ids) == sorted(sent)
    page.ask("window.rows = [...root.querySelectorAll('.row')]")
    [late] = send("The newest")
    page.wait_for_change(f"shown.counts.unread === {_MANY + 1}")
    assert page.arrived() == [late]
    page.wait_for(f"root.querySelectorAll('.row').length === {_MANY + 1}")
    page.ask("element.inbox.readAll()")
    page.wait_for("shown.waiting === 0 && shown.counts.unread === 0")
    assert page.ask(
        "const now = [...root.querySelectorAll('.row')];"
        "return rows.every((row, at) => row === now[at + 1])"
    ), "a change makes no row again"


@pytest.mark.skipif(not SCRIPT.exists(), reason="no axe-core: npm ci --prefix .ci/axe")
def test_axe_finds_nothing_in_any_look(page: Device, send: Send) -> None:
    actions = [
        {"id": "yes", "label": "Confirm"},
        {"id": "go", "label": "Track", "url": "/demo/inbox#x"},
    ]
    send("Anna liked your photo", "Ben liked your photo", type="LIKE", collapse_key="likes")
    send("On its way", content={"actions": actions, "url": "/demo/inbox#order"})
    page.wait_for_change("shown.items.length === 2")
    looks = {
        "": (1280, False),
        "?lang=de": (1280, True),
        "?lang=ar": (1280, False),
        "?lang=fr": (390, False),
        "?lang=ar&phone": (390, True),
    }
    for query, (width, dark) in looks.items():
        page.look(width=width, dark=dark)
        page.open(query)
        assert page.violations() == [], f"closed, {query}"
        page.ask("element.open = true")
        page.wait_for("root.querySelectorAll('.row').length > 1")
        page.ask("root.querySelector('.more:not([hidden])')?.click()")
        assert page.violations() == [], f"open, {query}"
        page.ask("root.querySelector('.row .tools .icon:last-child').click()")
        assert page.violations() == [], f"menu, {query}"
        assert page.faults() == [], query


def test_texts_and_urls_of_a_message_run_no_code(page: Device, send: Send) -> None:
    send("<img src=x onerror=alert(1)>", content={"body": "<script>alert(2)</script>"})
    page.wait_for_change("shown.items.length === 1")
    # The service refuses such URLs; the component checks the URLs again.
    with page.changed_answers(
        "each.url = 'javascript:alert(3)'; each.image_url = 'data:text/html,x'"
    ):
        page.open()
        page.ask("element.open = true")
        page.wait_for("root.querySelectorAll('.row').length === 1")
        row = page.ask(
            "const row = root.querySelector('.row'); const title = row.querySelector('.title');"
            "return [title.textContent, row.querySelectorAll('a, img, script').length]"
        )
        assert row == ["<img src=x onerror=alert(1)>", 0]
        page.press(Keys.TAB, Keys.TAB, Keys.TAB, Keys.TAB, Keys.ENTER)
        page.wait_for("shown.counts.unread === 0")
    assert page.faults() == []


def test_the_types_name_members_that_exist(page: Device) -> None:
    types = (SOURCES / "notify-inbox.d.ts").read_text()
    body = re.search(r"class NotifyInbox .*?^}", types, re.MULTILINE | re.DOTALL)
    assert body
    names = set(re.findall(r"^  (\w+)[(:]", body[0], re.MULTILINE)) - {"constructor"}
    assert {"markRead", "getSnapshot", "loadGroup"} <= names
    missing = page.ask(
        "return arguments[0].filter((name) => !(name in element.inbox))", sorted(names)
    )
    assert missing == []
    snapshot = re.search(r"interface InboxSnapshot .*?^}", types, re.MULTILINE | re.DOTALL)
    assert snapshot
    fields = re.findall(r"readonly (\w+):", snapshot[0])
    assert sorted(page.ask("return Object.keys(shown)")) == sorted(fields)


def test_a_changed_file_does_not_run(page: Device) -> None:
    page.chrome.get(f"{page.url}/v1/docs")  # the policy of the demo's page forbids such elements
    load = """
        const [src, integrity, done] = arguments;
        const script = document.createElement("script");
        Object.assign(script, {type: "module", src, integrity, crossOrigin: "anonymous"});
        script.onload = () => done(Boolean(customElements.get("notify-inbox")));
        script.onerror = () => done("refused");
        document.head.append(script);
    """
    src, integrity = (
        embed.path_of(COMPONENT),
        embed.versions()[embed.LATEST][COMPONENT].integrity,
    )
    changed = integrity[:-4] + ("AAAA" if integrity[-4:] != "AAAA" else "BBBB")
    assert page.chrome.execute_async_script(load, f"{src}?changed", changed) == "refused"
    assert page.chrome.execute_async_script(load, src, integrity) is True
