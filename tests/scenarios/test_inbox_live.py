"""`<notify-inbox>` with streams: several windows, another device, and servers that die."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from notifyproj import demo_inbox
from notifyproj.devstack.ports import LOOPBACK
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM
from tests.scenarios.inbox_page import Device, Send, send_messages
from tests.scenarios.world import World

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)


@pytest.fixture(scope="module")
def live_world(_world: World) -> Iterator[World]:
    """The product with a live process that its web process names."""
    live = {"NOTIFY_LIVE_URL": f"http://{LOOPBACK}:{_world.ports.live}"}
    _world.processes["live"] = process = _world.process("live", **live)
    process.start()
    _world.repair("web", **live)
    process.wait_ready()
    yield _world
    _world.processes.pop("live").kill()


@pytest.fixture
def page(live_world: World, tmp_path: Path) -> Iterator[Device]:
    """The page with an empty inbox."""
    device = Device(tmp_path / "desk", url=live_world.url)
    device.open_empty(live_world)
    device.wait_for("shown.transport === 'stream'")
    yield device
    device.chrome.quit()


@pytest.fixture
def send(live_world: World) -> Send:
    """Return a function that sends a message for each title; it returns the notification ids."""
    return functools.partial(send_messages, live_world)


def test_two_windows_and_another_device_are_in_step(
    page: Device, send: Send, live_world: World, tmp_path: Path
) -> None:
    first = page.chrome.current_window_handle
    page.chrome.switch_to.new_window("tab")
    second = page.open()
    other = Device(tmp_path / "phone", url=live_world.url)
    try:
        other.open()
        page.chrome.switch_to.window(first)
        page.chrome.find_element(By.CSS_SELECTOR, "#send [type=submit]").click()
        for window in (first, second):
            page.chrome.switch_to.window(window)
            page.wait(lambda: page.badge() == "1")
        other.wait(lambda: other.badge() == "1")
        held = page.chrome.execute_async_script(
            "const done = arguments[0];"
            "navigator.locks.query().then(({held, pending}) => done([held.length, pending.length]))"
        )
        assert held == [1, 1], "one tab streams, and the other waits for its end"
        page.ask("element.inbox.markRead(shown.items[0].message_id)")
        assert page.badge() == "", "a mark is shown before the service answers"
        other.wait(lambda: other.badge() == "")
        page.chrome.switch_to.window(first)
        page.wait(lambda: page.badge() == "")
        page.chrome.close()  # the window with the stream
        page.chrome.switch_to.window(second)
        [sent] = send("After the first window")
        for each in (page, other):
            each.wait_for_arrival(sent)
            assert each.arrived().count(sent) == 1
        assert other.faults() == []
    finally:
        other.chrome.quit()
    assert page.faults() == []


def test_nothing_is_lost_or_repeated_while_the_servers_die(
    page: Device, send: Send, live_world: World
) -> None:
    sent = send("before")
    page.wait(lambda: page.arrived() == sent)
    live_world.processes["live"].kill()
    sent += send("while no stream runs", "and another")
    live_world.start("live")
    page.wait(lambda: sorted(page.arrived()) == sorted(sent))
    page.wait_for("shown.state === 'live' && shown.transport === 'stream'")

    live_world.processes["live"].kill()
    live_world.processes["web"].kill()
    page.wait_for("shown.state === 'reconnecting'")
    page.ask("element.inbox.markRead(shown.items[0].message_id)")
    assert page.ask("return [shown.waiting, shown.counts.unread]") == [1, 2]
    live_world.start("web", "live")
    page.wait_for("shown.state === 'live' && shown.waiting === 0")
    sent += send("after both")
    page.wait(lambda: sorted(page.arrived()) == sorted(sent))
    assert sorted(page.titles()) == ["after both", "and another", "before", "while no stream runs"]
    counts = live_world.service("shop").ask("GET", f"/v1/inbox/{demo_inbox.USER}/unread-count")
    assert (counts.body["unread"], page.badge()) == (3, "3")
