"""The last release is the newest tag before the present commit; without a tag a reason says so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.architecture import last_release

_AUTHOR: Final = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "tag.gpgSign=false")


def _git(folder: Path, *command: str) -> None:
    subprocess.run(
        ["/usr/bin/env", "git", *_AUTHOR, *command], cwd=folder, check=True, capture_output=True
    )


def _commit(folder: Path, text: str) -> None:
    (folder / "openapi.json").write_text(text)
    _git(folder, "add", ".")
    _git(folder, "commit", "--no-gpg-sign", "--message", text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit and no tag."""
    folder = tmp_path / "repository"
    folder.mkdir()
    _git(folder, "init", "--quiet")
    _commit(folder, "one")
    return folder


def test_the_newest_tag_before_the_present_commit_is_the_last_release(repository: Path) -> None:
    for version in ("v1.0.0", "v1.1.0"):
        _commit(repository, version)
        _git(repository, "tag", version)
    _commit(repository, "later")
    _git(repository, "tag", "v1.2.0-rc1")
    assert last_release.tag(repository) == "v1.1.0"
    assert last_release.text("openapi.json", of="v1.1.0", root=repository) == "v1.1.0"
    assert last_release.files(".", of="v1.0.0", root=repository) == {"openapi.json": "v1.0.0"}
    assert last_release.files("none", of="v1.0.0", root=repository) == {}


def test_a_file_that_the_release_did_not_have_is_an_error(repository: Path) -> None:
    _git(repository, "tag", "v1.0.0")
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        last_release.text("none.json", of="v1.0.0", root=repository)


def test_without_a_tag_the_reason_tells_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    assert last_release.tag(repository) is None
    assert last_release.why_none(repository).startswith("no release is tagged here")
    _git(repository, "tag", "v1.0.0")
    _commit(repository, "later")
    shallow = tmp_path / "shallow"
    _git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(shallow))
    assert last_release.tag(shallow) is None
    assert last_release.why_none(shallow).startswith("this clone is shallow")
