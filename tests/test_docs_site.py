"""The documentation site: it builds without a warning, names no other host, and is served."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest
from django.test import Client
from django.test.utils import override_settings

ROOT: Final = Path(__file__).parents[1]
LOADED: Final = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")}


class _Resources(HTMLParser):
    """Collects what a browser loads with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.urls += [value or "" for name, value in attrs if (tag, name) in LOADED]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = ["-W", "ignore::DeprecationWarning", "-m", "mkdocs", "build", "--strict"]
    done = subprocess.run(
        [sys.executable, *command, "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "true"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def browser(site: Path) -> Iterator[Client]:
    with override_settings(DOCS_SITE=site):
        yield Client()


def test_each_page_of_docs_is_in_the_site(site: Path) -> None:
    folder = ROOT / "docs"
    for page in folder.rglob("*.md"):
        assert (site / page.relative_to(folder).with_suffix(".html")).is_file(), page


def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    for page in pages:
        resources = _Resources()
        resources.feed(page.read_text())
        assert resources.urls, page
        assert not [url for url in resources.urls if re.match(r"(?:https?:)?//", url)], page


def test_the_front_page_is_served_with_its_assets(browser: Client) -> None:
    assert browser.get("/docs").headers["Location"] == "/docs/"
    page = browser.get("/docs/")
    assert page.status_code == 200
    resources = _Resources()
    resources.feed(page.content.decode())
    for url in resources.urls:
        assert browser.get(f"/docs/{url}").status_code == 200, url


def test_the_policy_allows_the_inline_scripts_of_the_page_alone(browser: Client) -> None:
    page = browser.get("/docs/")
    scripts = re.findall(rb"<script>(.+?)</script>", page.content, re.DOTALL)
    allowed = re.search(r"script-src ([^;]+);", page.headers["Content-Security-Policy"])
    assert allowed
    hashes = {f"'sha256-{b64encode(sha256(each).digest()).decode()}'" for each in scripts}
    assert hashes
    assert set(allowed[1].split()) == {"'self'", *hashes}


def test_an_unchanged_page_is_not_sent_again(browser: Client) -> None:
    tag = browser.get("/docs/states.html").headers["ETag"]
    answer = browser.get("/docs/states.html", headers={"If-None-Match": tag})
    assert answer.status_code == 304


@pytest.mark.parametrize(
    "path",
    ["none.html", "assets", "../../manage.py", "%2e%2e/%2e%2e/manage.py", "a%00b", "x" * 300],
)
def test_any_other_path_is_not_found(browser: Client, path: str) -> None:
    answer = browser.get(f"/docs/{path}")
    assert answer.status_code == 404
    assert b"no such page" in answer.content


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Client]:
    """Reads the pages of an installation without a built site."""
    with override_settings(DOCS_SITE=tmp_path):
        yield Client()


def test_without_a_built_site_each_page_is_shown_and_its_links_lead_somewhere(
    reader: Client,
) -> None:
    folder = ROOT / "docs"
    paths = [each.relative_to(folder).with_suffix(".html") for each in folder.rglob("*.md")]
    shown = {path.as_posix(): _shown(reader, path.as_posix()) for path in paths}
    for path, html in shown.items():
        for target, anchor in re.findall(r'href="(?!\w+:|/)([^"#]*)(?:#([^"]*))?"', html):
            to = os.path.normpath(Path(path).parent / target) if target else path
            assert to in shown, (path, target)
            assert not anchor or f'id="{anchor}"' in shown[to], (path, to, anchor)


def _shown(reader: Client, path: str) -> str:
    answer = reader.get(f"/docs/{path}")
    assert answer.status_code == 200, path
    assert "script-src 'self' ;" in answer.headers["Content-Security-Policy"]
    return answer.content.decode()


def test_pages_without_a_built_site_show_no_marks_of_their_source(reader: Client) -> None:
    for path in ("web-push.html", "client-receipts.html", "start/smtp.html", "api-guide.html"):
        text = re.sub(r"<pre>.*?</pre>", "", _shown(reader, path), flags=re.DOTALL)
        assert "```" not in text
        assert "=== " not in text
        assert "](" not in text


def test_the_front_page_without_a_built_site_says_how_to_build_one(reader: Client) -> None:
    page = _shown(reader, "")
    assert "make docs" in page
    assert "/app/var/site" in page


@pytest.mark.parametrize("path", ["none.html", "../mkdocs.yml", "api-guide.md", "a%00b"])
def test_without_a_built_site_any_other_path_is_not_found(reader: Client, path: str) -> None:
    answer = reader.get(f"/docs/{path}")
    assert answer.status_code == 404
    assert b"no such page" in answer.content


def test_the_image_has_the_pages() -> None:
    kept = (ROOT / ".dockerignore").read_text().split()
    for page in (ROOT / "docs").rglob("*.md"):
        path = page.relative_to(ROOT).as_posix()
        names = {f"!{each.as_posix()}" for each in page.relative_to(ROOT).parents}
        assert names & set(kept) or (path.count("/") == 1 and "!docs/*.md" in kept), path
    assert "!mkdocs.yml" in kept
