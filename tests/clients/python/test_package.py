"""The package is built, installed into an empty environment without an index, and imported."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Final

import httpx
import pytest

from notify_client import __version__

_ROOT: Final = Path(__file__).parents[3]
_PACKAGE: Final = _ROOT / "clients" / "python"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what git has, with the pinned setuptools."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = shutil.copytree(
        _PACKAGE,
        folder / "source",
        ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"),
    )
    _run(
        *("-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", str(folder), str(copy)),
    )
    (made,) = folder.glob("*.whl")
    return made


def _run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_has_types_licence_and_readme(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith("METADATA")]
        said = archive.read(metadata).decode()
    assert "notify_client/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith(("tests", "build"))]
    assert f"Version: {__version__}" in said
    assert "License-Expression: Apache-2.0" in said
    assert [line for line in said.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: httpx<1,>=0.27"
    ]
    assert (_PACKAGE / "README.md").read_text() in said


def test_it_installs_and_imports_with_httpx_alone(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    pip = ("-m", "pip", "install", "--quiet", "--no-index", "--no-deps")
    _run(*pip, "--target", str(target), str(wheel))
    code = (
        "import sys; sys.path[:0] = sys.argv[1:];"
        "import notify_client; notify_client.Client('http://127.0.0.1:9', 'nk_test_x');"
        "print(notify_client.__file__, *{name.partition('.')[0] for name in sys.modules})"
    )
    needed = str(Path(httpx.__file__).parents[1])
    file, *modules = _run("-I", "-c", code, str(target), needed).split()
    assert Path(file).is_relative_to(target)
    assert not {"django", "notifications", "providers", "notifyproj"}.intersection(modules)


def test_the_licence_is_the_projects() -> None:
    assert (_PACKAGE / "LICENSE").read_text() == (_ROOT / "LICENSE").read_text()


def test_what_builds_it_is_pinned() -> None:
    project = tomllib.loads((_PACKAGE / "pyproject.toml").read_text())
    assert project["build-system"]["requires"] == ["setuptools>=77"]
    pins = (_ROOT / "requirements-dev.txt").read_text()
    assert "\nsetuptools==" in pins
    assert "\nhttpx==" in pins
