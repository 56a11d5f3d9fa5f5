"""The documents and the built files of the web components are those of the sources."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from notifications.core.api import embed
from tests.architecture import embed_snippet

_HINT = "run: make embed (needs Node.js)"


@pytest.mark.parametrize("page", embed_snippet.PAGES, ids=lambda page: page.name)
def test_the_page_has_the_script_element_of_the_present_version(page: Path) -> None:
    assert embed.path_of(embed_snippet.PAGES[page]) in page.read_text(), _HINT
    assert page.read_text() == embed_snippet.text(page), _HINT


def test_the_built_files_are_not_older_than_their_sources() -> None:
    folders = [home.parent / "inbox" for home in embed.folders()]
    files = [each for folder in folders for each in folder.iterdir()]
    sources = {each.name: each for each in files if each.suffix in {".js", ".css"}}
    parts = [sources[name].read_bytes() for name in sorted(sources)]
    digest = hashlib.sha256(b"".join(parts)).hexdigest()[:16]
    for bundle in embed.versions()[embed.LATEST].values():
        [built] = re.findall(rb"^/\* Apache-2.0; sources (\w+) \*/", bundle.content)
        assert built.decode() == digest, _HINT
