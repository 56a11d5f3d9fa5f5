"""The files of the web components, as browsers of other sites get them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from notifications.core.api import embed
from notifyproj.demo_inbox import COMPONENT

_LARGEST = 21_200
"""Bytes of the component with the headless class, compressed."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of versions without the product's own."""
    monkeypatch.setattr(embed, "folders", lambda: [tmp_path])
    embed.versions.cache_clear()
    yield tmp_path
    embed.versions.cache_clear()


def _put(folder: Path, content: str) -> None:
    folder.mkdir()
    (folder / COMPONENT).write_text(content)


def test_a_version_is_kept_by_browsers_of_every_site() -> None:
    answer = Client().get(embed.path_of(COMPONENT))
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert "Content-Encoding" not in answer.headers
    assert "Set-Cookie" not in answer.headers


def test_the_file_is_compressed_once_for_browsers_that_take_gzip() -> None:
    plain = Client().get(embed.path_of(COMPONENT))
    packed = Client().get(embed.path_of(COMPONENT), headers={"Accept-Encoding": "br, gzip"})
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == (
        "gzip",
        "Accept-Encoding",
    )
    assert gzip.decompress(packed.content) == plain.content
    assert packed.headers["ETag"] != plain.headers["ETag"]
    assert len(packed.content) < _LARGEST


def test_no_file_imports_another_because_integrity_covers_one_file() -> None:
    for name, bundle in embed.versions()[embed.LATEST].items():
        assert not re.search(rb"\bimport\s*[({\"']|\bfrom\s*[\"']", bundle.content), name


def test_the_present_version_has_a_fixed_name_for_five_minutes() -> None:
    answer = Client().get(f"/embed/latest/{COMPONENT}")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "public, max-age=300")
    again = Client().get(
        f"/embed/latest/{COMPONENT}", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304


@pytest.mark.parametrize(
    "path", ["/embed/0123456789ab/notify-inbox.js", "/embed/latest/none.js", "/embed/current/x.js"]
)
def test_an_unknown_version_or_file_is_not_found(path: str) -> None:
    assert Client().get(path).status_code == 404


def test_the_files_of_a_feature_have_a_version_of_their_own() -> None:
    present = embed.current_versions()
    assert present["notify-inbox-client.js"] == present[COMPONENT] != present[embed.PREFERENCES]
    assert Client().get(f"/embed/{present[embed.PREFERENCES]}/{COMPONENT}").status_code == 404


def test_a_former_release_stays_served(folder: Path) -> None:
    former = embed.version_of({COMPONENT: b"former"})
    _put(folder / "current", "present")
    _put(folder / former, "former")
    assert Client().get(f"/embed/{former}/{COMPONENT}").content == b"former"
    assert Client().get(f"/embed/latest/{COMPONENT}").content == b"present"


def test_a_former_release_cannot_be_edited(folder: Path) -> None:
    _put(folder / "current", "present")
    _put(folder / embed.version_of({COMPONENT: b"former"}), "edited")
    with pytest.raises(ValueError, match="the files have the digest"):
        embed.versions()
