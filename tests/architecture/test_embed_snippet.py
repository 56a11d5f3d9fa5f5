"""The documents and the built files of the web components are those of the sources."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from notifications.core.api import embed
from tests.architecture import embed_snippet, last_release

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


def test_the_components_of_the_last_release_are_served() -> None:
    tag = last_release.tag()
    if tag is None:
        pytest.skip(last_release.why_none())
    versions = {
        embed.version_of(files)
        for home in embed.folders()
        if (files := embed_snippet.released(home, tag=tag))
    }
    assert versions <= embed.versions().keys(), _HINT


def test_changed_components_keep_those_of_the_last_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = {"notify-push.js": "// released\n", "notes.txt": "no component"}
    monkeypatch.setattr(last_release, "files", lambda *_, **__: released)
    monkeypatch.setattr(embed_snippet, "ROOT", tmp_path)
    monkeypatch.setattr(embed, "folders", lambda: [tmp_path / "embed"])
    present = tmp_path / "embed" / embed.CURRENT / "notify-push.js"
    present.parent.mkdir(parents=True)
    present.write_text("// released\n")
    embed_snippet.keep_released("v1.0.0")
    assert len(list(present.parents[1].iterdir())) == 1
    present.write_text("// changed\n")
    embed_snippet.keep_released("v1.0.0")
    [kept] = [each for each in present.parents[1].iterdir() if each.name != embed.CURRENT]
    assert [each.name for each in kept.iterdir()] == ["notify-push.js"]
    assert embed.version_of(embed.files_of(kept)) == kept.name
