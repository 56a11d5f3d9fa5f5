"""axe-core in the browser: the violations of a page, at two sizes, in light and dark.

`npm ci --prefix .ci/axe --ignore-scripts` fetches axe-core.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from selenium.webdriver import Chrome

SCRIPT: Final = Path(__file__).resolve().parents[2] / ".ci/axe/node_modules/axe-core/axe.min.js"
SIZES: Final[Mapping[str, tuple[int, int]]] = {"phone": (390, 844), "desktop": (1440, 900)}
_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
_COLOURS: Final = ("color-contrast", "link-in-text-block")
"""The rules about colours. A theme changes nothing else, so the dark theme is judged by them."""
_SCREENSHOTS: Final = os.environ.get("CONSOLE_SCREENSHOTS", "")
"""Folder for a picture of each checked page; empty: no pictures."""
_RUN: Final = """
    const [only, done] = arguments;
    axe.run(document, {runOnly: only, resultTypes: ["violations"]}).then(
        (found) => done(found.violations.map((each) => ({
            id: each.id,
            nodes: each.nodes.map((node) => node.target.join(" ") + ": " + node.failureSummary),
        }))),
        (error) => done([{id: "axe", nodes: [String(error)]}]),
    );
"""


def looks(chrome: Chrome) -> Iterator[str]:
    """Show the open page at each size in each theme, and yield the name of the look."""
    for size, (width, height) in SIZES.items():
        chrome.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"},
        )
        for theme in ("light", "dark"):
            chrome.execute_cdp_cmd(
                "Emulation.setEmulatedMedia",
                {"features": [{"name": "prefers-color-scheme", "value": theme}]},
            )
            chrome.refresh()
            yield f"{size}-{theme}"


def violations(chrome: Chrome, *, name: str) -> list[str]:
    """Return the violations of the page; `name` ends with the look and names the screenshot."""
    if _SCREENSHOTS:
        _take_screenshot(chrome, Path(_SCREENSHOTS) / f"{name}.png")
    chrome.execute_script(SCRIPT.read_text())
    only = _COLOURS if name.endswith("dark") else _TAGS
    found: list[dict[str, Any]] = chrome.execute_async_script(_RUN, list(only))
    return [f"{each['id']}: {node}" for each in found for node in each["nodes"]]


def scrolls_sideways(chrome: Chrome) -> bool:
    """Return whether the page is wider than the window."""
    asked = "return document.documentElement.scrollWidth > window.innerWidth"
    return bool(chrome.execute_script(asked))


def _take_screenshot(chrome: Chrome, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    taken = chrome.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(taken["data"]))
