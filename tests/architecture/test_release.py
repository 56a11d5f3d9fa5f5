"""The change logs have the releases in order, and each file with the version has the newest one."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Final

import pytest

from tests.architecture import repository
from tests.architecture.repository import ROOT

_LOGS: Final = ("CHANGELOG.md", "docs/api-changelog.md")
_HEADING: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_RELEASE: Final = re.compile(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)")
_PATTERNS: Final = {
    "clients/python/src/notify_client/_version.py": r'^__version__ = "(.+)"$',
    "Dockerfile": r'org\.opencontainers\.image\.version="(.+)"',
    "docs/helm/notify/Chart.yaml": r"^version: (.+)$",
    "docs/kubernetes/migrate.yaml": r"image: registry\.example\.com/notify:(.+)$",
    "docker-compose.yml": r"\$\{NOTIFY_IMAGE:-notify:(.+)\}",
    ".env.example": r"^#NOTIFY_IMAGE='notify:(.+)'",
}
_ARCHIVE: Final = re.compile(r"notify-delivery-client-(\d[\w.]*)\.tgz")


def _headings(log: str) -> list[str]:
    return _HEADING.findall((ROOT / log).read_text())


def _releases(log: str) -> list[tuple[tuple[int, ...], dt.date]]:
    """Return version and day of each release, in the order of the file."""
    found = [_RELEASE.fullmatch(each) for each in _headings(log)[1:]]
    return [
        (tuple(map(int, each[1].split("."))), dt.date.fromisoformat(each[2]))
        for each in found
        if each
    ]


def _newest() -> str:
    return ".".join(map(str, _releases("CHANGELOG.md")[0][0]))


@pytest.mark.parametrize("log", _LOGS)
def test_a_change_log_begins_with_what_is_unreleased_and_goes_back_to_the_first(log: str) -> None:
    assert _headings(log)[0] == "Unreleased"
    releases = _releases(log)
    assert len(releases) == len(_headings(log)) - 1, "a heading is `## 1.2.3 - 2027-01-31`"
    assert releases == sorted(releases, reverse=True)
    assert releases[-1][0] == (1, 0, 0)


def test_each_change_of_the_api_belongs_to_a_release() -> None:
    assert set(_releases("docs/api-changelog.md")) <= set(_releases("CHANGELOG.md"))


@pytest.mark.parametrize("path", _PATTERNS)
def test_a_file_has_the_version_of_the_newest_release(path: str) -> None:
    text = (ROOT / path).read_text()
    assert re.findall(_PATTERNS[path], text, re.MULTILINE) == [_newest()]


def test_the_npm_package_and_its_lock_have_the_version_of_the_newest_release() -> None:
    folder = ROOT / "clients" / "typescript"
    package = json.loads((folder / "package.json").read_text())
    lock = json.loads((folder / "package-lock.json").read_text())
    found = {package["version"], lock["version"], lock["packages"][""]["version"]}
    assert found == {_newest()}


def test_each_install_line_of_the_npm_package_has_the_version_of_the_newest_release() -> None:
    pages = repository.files("*.md", "*.html")
    found = {path: set(_ARCHIVE.findall((ROOT / path).read_text())) for path in pages}
    named = {path: versions for path, versions in found.items() if versions}
    assert named.keys() >= {"clients/typescript/README.md", "docs/api-guide.md"}
    assert {path: versions for path, versions in named.items() if versions != {_newest()}} == {}
