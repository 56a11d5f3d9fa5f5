"""Each relative link, and each path in backticks, of the documents exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.architecture import repository
from tests.architecture.repository import ROOT

_DOCUMENTS: Final = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
_BLOCK: Final = re.compile(r"^```.*?^```|^(?: {4}|\t)[^\n]*$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\((?![a-z]+:|/)([^)#\s]*)(?:#([^)\s]+))?\)")
_CODE: Final = re.compile(r"`([^`\n]+)`")
_PATH: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")
_FILE: Final = re.compile(
    r"\.(?:cfg|html|json|lua|md|mjs|py|sh|sql|template|toml|ts|txt|ya?ml)$|^(?:Dockerfile|Makefile)$"
)
_MADE: Final = ("var", ".venv")
"""Folders that exist only after a start."""
_BASES: Final = ("", "notifications/core/", "tests/scenarios/")
"""Folders below which README names parts without their beginning."""


def _tracked() -> set[str]:
    """Return every file of the repository, and every folder with a file."""
    files = set(repository.files())
    return files | {str(folder) for file in files for folder in Path(file).parents}


_TRACKED: Final = _tracked()
_TOP: Final = {each for each in _TRACKED if "/" not in each}


def _anchors(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub and the site make them."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def _broken_links(document: Path, text: str) -> list[str]:
    broken = []
    for target, anchor in _LINK.findall(text):
        file = (document.parent / target).resolve() if target else document
        is_there = str(file.relative_to(ROOT)) in _TRACKED
        if not is_there or (anchor and anchor not in _anchors(file)):
            broken.append(f"{target}#{anchor}" if anchor else target)
    return broken


def _paths(text: str) -> list[str]:
    """Return what stands in backticks and is the path of a file or folder."""
    words = [word.removeprefix("./") for code in _CODE.findall(text) for word in code.split()]
    return [
        word
        for word in words
        if _PATH.fullmatch(word)
        and word.partition("/")[0] not in _MADE
        and ("/" in word or _FILE.search(word))
        and (word.endswith("/") or _FILE.search(word) or word.partition("/")[0] in _TOP)
    ]


def _exists(path: str, document: Path) -> bool:
    folder = document.parent.relative_to(ROOT).as_posix()
    bases = [*_BASES, "" if folder == "." else f"{folder}/"]
    if any(f"{base}{path.rstrip('/')}" in _TRACKED for base in bases):
        return True
    # A file's bare name, beside the name of its folder.
    return "/" not in path and any(each.endswith(f"/{path}") for each in _TRACKED)


def _name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", _DOCUMENTS, ids=_name)
def test_relative_links_lead_to_a_file_and_its_heading(document: Path) -> None:
    assert _broken_links(document, _BLOCK.sub("", document.read_text())) == []


@pytest.mark.parametrize("document", _DOCUMENTS, ids=_name)
def test_paths_in_backticks_exist(document: Path) -> None:
    paths = _paths(_BLOCK.sub("", document.read_text()))
    assert [path for path in paths if not _exists(path, document)] == []


def test_a_missing_path_and_a_missing_link_are_found() -> None:
    text = "`notifications/none.py` `rules/` `p0.push` [here](none.md) [there](glossary.md#none)"
    document = ROOT / "docs" / "glossary.md"
    assert [path for path in _paths(text) if not _exists(path, document)] == [
        "notifications/none.py"
    ]
    assert _broken_links(document, text) == ["none.md", "glossary.md#none"]
