"""The locks name every package once, with hashes, in the versions that the pins ask for."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_RUNTIME = "requirements-lock.txt"
_TOOLS = "requirements-dev-lock.txt"
_ENTRY = re.compile(r"^([a-z0-9-]+)==([^ ]+)(?: ; [^\\]+)? \\$")
_HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[a-z,-]+\])?==([^ ]+)")


def _lines(name: str) -> list[str]:
    text = (_ROOT / name).read_text()
    return [line for line in text.splitlines() if not line.startswith("#")]


def _locked(name: str) -> dict[str, str]:
    entries = [(match[1], match[2]) for match in map(_ENTRY.match, _lines(name)) if match]
    assert len(entries) == len(dict(entries)), "a package is locked in two versions"
    return dict(entries)


def _pinned(name: str) -> dict[str, str]:
    found = [(match[1], match[2]) for match in map(_PIN.match, _lines(name)) if match]
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


@pytest.mark.parametrize(
    ("pins", "lock"),
    [
        ("requirements.txt", _RUNTIME),
        ("requirements.txt", _TOOLS),
        ("requirements-dev.txt", _TOOLS),
    ],
)
def test_each_pin_is_locked_in_its_version(pins: str, lock: str) -> None:
    locked = _locked(lock)
    stale = {
        package: (version, locked.get(package))
        for package, version in _pinned(pins).items()
        if locked.get(package) != version
    }
    assert not stale, f"run `make lock`: {lock} is not of {pins}"


@pytest.mark.parametrize("name", [_RUNTIME, _TOOLS])
def test_a_lock_holds_versions_and_hashes_and_nothing_else(name: str) -> None:
    lines = _lines(name)
    odd = [line for line in lines if not _ENTRY.match(line) and not _HASH.match(line)]
    assert not odd, "an index, an address or an entry without a hash"
    for entry, following in itertools.pairwise(lines):
        assert _HASH.match(following) or _HASH.match(entry), f"{entry} has no hash"


def test_both_locks_agree() -> None:
    tools = _locked(_TOOLS)
    differing = {
        package: (version, tools.get(package))
        for package, version in _locked(_RUNTIME).items()
        if tools.get(package) != version
    }
    assert not differing


def test_a_lock_serves_every_supported_python() -> None:
    # Python 3.11.2 needs it, 3.11.3 does not: a lock made for one of them alone would differ.
    entry = next(line for line in _lines(_RUNTIME) if line.startswith("async-timeout=="))
    assert "python_full_version < '3.11.3'" in entry


def test_the_image_and_the_environment_accept_nothing_but_the_lock() -> None:
    for name in (".ci/install", "Dockerfile"):
        installs = (_ROOT / name).read_text()
        assert "--require-hashes" in installs, name
        assert "requirements.txt" not in installs, name
