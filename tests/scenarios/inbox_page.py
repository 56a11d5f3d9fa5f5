"""Chromium with the demo's inbox page, and the devices of a person."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from selenium.webdriver import ActionChains, Chrome, ChromeOptions, ChromeService

from notifyproj import demo_inbox
from tests.admin.axe import SCRIPT
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, FLAGS
from tests.browser_wait import wait_until
from tests.scenarios.world import World

Found = TypeVar("Found")
_PRELUDE: Final = """
    const element = document.querySelector("notify-inbox");
    const root = element.shadowRoot;
    const shown = element.inbox.getSnapshot();
"""
_IS_DEFINED: Final = "return Boolean(document.querySelector('notify-inbox')?.inbox)"
_WATCH: Final = """
    if (!window.arrived) {
        window.arrived = [];
        window.violations = [];
        const [arrive, violate] = [window.arrived, window.violations];
        document.addEventListener("notify-item", (event) => {
            arrive.push(event.detail.item.notification_id);
        });
        document.addEventListener("securitypolicyviolation", (event) => {
            violate.push(event.violatedDirective);
        });
    }
"""
"""Runs before the scripts of a page; a window may have the script twice."""
_CHANGE: Final = """
    const original = window.fetch;
    window.fetch = async (...given) => {
        const response = await original(...given);
        if (!String(given[0]).includes("/v1/inbox/me?")) return response;
        const body = await response.json();
        for (const each of body.results) { CHANGE }
        return new Response(JSON.stringify(body), response);
    };
"""
_AXE: Final = """
    const done = arguments[0];
    axe.run(document, {resultTypes: ["violations"]}).then(
        (found) => done(found.violations.flatMap((each) => each.nodes.map(
            (node) => each.id + ": " + node.target.join(" ") + ": " + node.failureSummary))),
        (error) => done([String(error)]),
    );
"""


class Device:
    """A browser with a profile of its own; each window shows the inbox page."""

    def __init__(self, folder: Path, *, url: str) -> None:
        options = ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"user-data-dir={folder}"):
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.chrome = Chrome(options=options, service=ChromeService(CHROMEDRIVER))
        self.url = url

    def open(self, query: str = "") -> str:
        """Load the page in the present window, wait until it is live, and return the window."""
        self.chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
        self.chrome.get(f"{self.url}/demo/inbox{query}")
        self.wait(lambda: self.chrome.execute_script(_IS_DEFINED))
        self.wait_for("shown.loaded && shown.state === 'live'")
        return self.chrome.current_window_handle

    def open_empty(self, world: World) -> None:
        """Archive all messages of the person and load the page."""
        world.service("shop").ask("POST", f"/v1/inbox/{demo_inbox.USER}/archive-all", {})
        self.open()
        self.wait_for("shown.items.length === 0 && shown.counts.unread === 0")
        self.faults()
        self.ask("window.arrived.length = 0")

    def ask(self, script: str, *given: object) -> Any:  # noqa: ANN401 - what the script returns
        """Run a script with `element`, `root` and `shown`, the component's snapshot."""
        return self.chrome.execute_script(_PRELUDE + script, *given)

    def wait(self, look: Callable[[], Found]) -> Found:
        return wait_until(self.chrome, look)

    def wait_for(self, condition: str) -> None:
        """Wait until the JavaScript condition is true."""
        answer = f"return {condition}"
        wait_until(self.chrome, lambda: self.ask(answer), f"not {condition}: {self.state()}")

    @contextmanager
    def changed_answers(self, script: str) -> Iterator[None]:
        """Change each message (`each`) of each page of the inbox before the component gets it."""
        source = _CHANGE.replace("CHANGE", script)
        added = self.chrome.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": source}
        )
        yield
        self.chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    def state(self) -> str:
        return json.dumps(self.ask("return {...shown, items: shown.items.length}"))

    def press(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.chrome).send_keys(key).perform()

    def focus(self) -> str:
        """Return the name of the focused element of the component: its label or its text."""
        found: str = self.ask(
            "const at = root.activeElement;"
            "return at ? at.getAttribute('aria-label') ?? at.textContent.trim() : ''"
        )
        return found

    def badge(self) -> str:
        """Return the text of the badge; empty without a badge."""
        found: str = self.ask(
            "const at = root.querySelector('.badge'); return at.hidden ? '' : at.textContent"
        )
        return found

    def wait_for_change(self, condition: str) -> None:
        """Ask the service for changes until the JavaScript condition is true."""
        self.wait(
            lambda: self.ask(f"element.inbox.refresh().catch(() => {{}}); return {condition}")
        )

    def titles(self) -> list[str]:
        found: list[str] = self.ask("return shown.items.map((item) => item.title)")
        return found

    def arrived(self) -> list[str]:
        """Return the notification ids that the page was told of as new."""
        found: list[str] = self.ask("return window.arrived")
        return found

    def wait_for_arrival(self, notification_id: str) -> None:
        """Wait until the page was told of the new message."""
        self.wait(lambda: notification_id in self.arrived())

    def look(self, *, width: int = 1280, dark: bool = False) -> None:
        """Show the page in a size and theme, without animations."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def violations(self) -> list[str]:
        """Return the violations that axe-core finds in the page with the component."""
        self.chrome.execute_script(SCRIPT.read_text())
        found: list[str] = self.chrome.execute_async_script(_AXE)
        return found

    def faults(self) -> list[str]:
        """Return violations of the Content-Security-Policy and errors in the console."""
        lines = self.chrome.get_log("browser")  # type: ignore[no-untyped-call]  # selenium's own
        severe = [line["message"] for line in lines if line["level"] == "SEVERE"]
        return [*self.ask("return window.violations"), *severe]


class Send(Protocol):
    """Sends a message for each title and returns the notification ids."""

    def __call__(
        self, *titles: str, content: Mapping[str, object] = ..., **fields: object
    ) -> list[str]: ...


def send_messages(
    world: World,
    *titles: str,
    content: Mapping[str, object] = MappingProxyType({}),
    **fields: object,
) -> list[str]:
    """Send a message for each title to the person's inbox; return the notification ids."""
    asked: list[dict[str, object]] = [
        {
            "user_id": demo_inbox.USER,
            "type": "ORDER_SHIPPED",
            "priority": "P1",
            "channels": ["in_app"],
            "content": {"title": title, "body": "A text", **content},
            **fields,
        }
        for title in titles
    ]
    return world.service("shop").notify_all(asked)
