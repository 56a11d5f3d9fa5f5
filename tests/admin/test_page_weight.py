"""The admin is light on a slow network, and its static files stay in the cache of the browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.contrib.staticfiles import handlers
from django.test import Client
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from selenium.webdriver.common.by import By

from notifications.core.models import Notification
from notifyproj.devstack.supervisor import demo
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser
from tests.admin.conftest import MakeDelivery
from tests.architecture import icons

_ROOT: Final = Path(__file__).parents[2]
_KIBIBYTE: Final = 1024
_MOST: Final = 400 * _KIBIBYTE
"""Bytes of a page with a cold cache, with the heads of the answers."""
_TRANSFERRED: Final = """
    const told = arguments[0];
    document.fonts.ready.then(() => told(
        ["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
            .map(each => [new URL(each.name).pathname, each.transferSize])));
"""
_WORDS: Final = """
    const [names, told] = arguments;
    const font = '18px "Material Symbols Outlined"';
    document.fonts.load(font, names.join("")).then(() => {
        const drawing = document.createElement("canvas").getContext("2d");
        drawing.font = font;
        told(names.filter(name => Math.round(drawing.measureText(name).width) !== 18));
    });
"""
"""The names that the font writes as words: an icon is as wide as the font is high."""

pytestmark = pytest.mark.django_db(transaction=True)
_in_a_browser: Final = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of static files that the build of the image makes, with the build's own line."""
    var = tmp_path_factory.mktemp("image")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(
        ["/bin/sh", "-c", _line_of_the_build()],
        check=True,
        cwd=_ROOT,
        env={"PATH": path, "DEMO_VAR": str(var)},
        stdout=subprocess.DEVNULL,
    )
    return var / "static"


def _line_of_the_build() -> str:
    text = (_ROOT / "Dockerfile").read_text()
    [line] = re.findall(r"^RUN ((?:.*\\\n)*.* collectstatic .*)", text, re.MULTILINE)
    return str(line)


@pytest.fixture
def as_in_the_image(collected: Path, settings: Settings) -> None:
    settings.STATIC_ROOT = collected
    settings.WHITENOISE_USE_FINDERS = False
    settings.STORAGES = {**settings.STORAGES}  # Django makes the storages again


@pytest.fixture
def live_server(
    as_in_the_image: None,  # noqa: ARG001 - asked for by name
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[LiveServer]:
    """A server whose static files come from the middleware, as in production."""
    monkeypatch.setattr(handlers, "StaticFilesHandler", lambda application: application)
    server = LiveServer("localhost")
    yield server
    server.stop()


@_in_a_browser
def test_a_first_page_with_a_cold_cache_is_under_400_kib(browser: Browser) -> None:
    browser.chrome.execute_cdp_cmd("Network.clearBrowserCache", {})
    overview = _transferred(browser, "", see="#monitoring")
    assert sum(overview.values()) < _MOST, sorted(overview.items(), key=lambda each: -each[1])
    again = _transferred(browser, "", see="#monitoring")
    assert {path for path, size in again.items() if size and path.startswith("/static/")} == set()
    browser.chrome.delete_all_cookies()
    browser.chrome.execute_cdp_cmd("Network.clearBrowserCache", {})
    login = _transferred(browser, "login/", see="[name=password]")
    assert sum(login.values()) < _MOST, sorted(login.items(), key=lambda each: -each[1])


def _transferred(browser: Browser, path: str, *, see: str) -> dict[str, int]:
    """Return the bytes that a page of the admin took from the network, by path."""
    browser.open(path)
    browser.see(see)
    found: list[Any] = browser.chrome.execute_async_script(_TRANSFERRED)
    return dict(found)


@_in_a_browser
def test_each_icon_of_the_list_is_in_the_font_and_each_icon_of_a_page_in_the_list(
    browser: Browser, make_delivery: MakeDelivery
) -> None:
    kept = icons.kept()
    browser.open("")
    words = browser.chrome.execute_async_script(_WORDS, [*sorted(kept), "no_such_icon"])
    assert words == ["no_such_icon"]
    make_delivery()
    message = f"notifications/notification/{Notification.objects.get().pk}/change/"
    for page in (*browser.menu(), message):
        browser.open(page)
        browser.see("#content")
        shown = browser.chrome.find_elements(By.CLASS_NAME, "material-symbols-outlined")
        names = {str(each.get_attribute("textContent")).strip() for each in shown}
        assert names - kept == {""} & names, page


def test_the_font_of_the_pages_has_the_icons_that_templates_menu_and_actions_name() -> None:
    assert icons.kept() == icons.named(), "`make fonts` writes the font again"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('<span class="material-symbols-outlined {{ size }}">search</span>', {"search"}),
        (
            '<i class="material-symbols-outlined">{% if a %}add{% else %}undo{% endif %}</i>',
            {"add", "undo"},
        ),
        ('{% include "tab_action.html" with title=title icon="history" %}', {"history"}),
        (
            """<i class="material-symbols-outlined"><b x-text="a && 'done' || 'close'"></b></i>""",
            {"done", "close"},
        ),
    ],
)
def test_an_icon_of_a_template_is_found(text: str, names: set[str]) -> None:
    assert set(icons.in_template(text)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('@action("Replay", icon="replay")\ndef replay(): ...', {"replay"}),
        ('Button(icon="stop" if running else "play_arrow")', {"stop", "play_arrow"}),
        ('Item("Overview", "speed", "index")', {"speed"}),
        ('UNFOLD = {"SITE_SYMBOL": "notifications", "SITE_TITLE": "title"}', {"notifications"}),
    ],
)
def test_an_icon_of_a_module_is_found(text: str, names: set[str]) -> None:
    assert set(icons.in_module(text)) == names


def test_the_demo_collects_the_files_of_the_image() -> None:
    options = _line_of_the_build().rpartition(" collectstatic ")[2]
    assert options.split() == list(demo.COLLECT)


@pytest.mark.usefixtures("as_in_the_image")
def test_a_static_file_is_compressed_and_kept_for_years_under_a_name_with_a_digest() -> None:
    page = Client().get("/admin/login/")
    links = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.content.decode())
    assert len(links) > len(("a style sheet", "a script"))
    assert [link for link in links if not re.search(r"\.[0-9a-f]{12}\.(?:css|js)$", link)] == []
    answer = Client().get(links[0], headers={"Accept-Encoding": "gzip"})
    answer.close()
    assert answer.headers["Cache-Control"] == "max-age=315360000, public, immutable"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Vary"] == "Accept-Encoding"


@pytest.mark.usefixtures("as_in_the_image")
def test_a_module_imports_the_other_modules_by_their_digests(collected: Path) -> None:
    modules = [each.read_text() for each in (collected / "notifications").rglob("*.js")]
    pattern = re.compile(r"""^(?:import|\}) .*?from ["'](\./[^"']+\.js)["'];""", re.MULTILINE)
    imported = [name for module in modules for name in pattern.findall(module)]
    assert imported
    assert [each for each in imported if not re.search(r"\.[0-9a-f]{12}\.js$", each)] == []


def test_a_page_is_compressed_and_an_answer_of_the_api_keeps_its_strong_etag() -> None:
    gzip = {"Accept-Encoding": "gzip"}
    page = Client().get("/admin/login/", headers=gzip)
    assert page.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in page.headers["Vary"]
    assert "Content-Encoding" not in Client().get("/admin/login/").headers
    schema = Client().get("/v1/schema", headers=gzip)
    assert len(schema.content) > _KIBIBYTE
    assert "Content-Encoding" not in schema.headers
