"""The documents and the built files of the web components are those of the sources."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from notifications.api import embed
from tests.architecture import embed_snippet

_HINT = "run: make embed (needs Node.js)"


@pytest.mark.parametrize("page", embed_snippet.PAGES, ids=lambda page: page.name)
def test_the_page_has_the_script_element_of_the_present_version(page: Path) -> None:
    assert embed.current_version() in page.read_text(), _HINT
    assert page.read_text() == embed_snippet.text(page), _HINT


def test_the_built_files_are_not_older_than_their_sources() -> None:
    sources = embed.FOLDER.parent / "inbox"
    names = sorted(each for each in sources.iterdir() if each.suffix in {".js", ".css"})
    digest = hashlib.sha256(b"".join(each.read_bytes() for each in names)).hexdigest()[:16]
    for bundle in embed.versions()[embed.LATEST].values():
        [built] = re.findall(rb"^/\* Apache-2.0; sources (\w+) \*/", bundle.content)
        assert built.decode() == digest, _HINT
