"""The packages are built from the files of git, installed into empty environments, and used.

pip builds with the pinned setuptools and without an index. httpx, the one dependency, comes from
the environment of the tests.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Final

import httpx
import pytest

from notify_client import __version__
from tests.architecture import repository
from tests.clients import released_files

_ROOT: Final = Path(__file__).parents[3]
_PACKAGE: Final = _ROOT / "clients" / "python"
_NAME: Final = f"notify_delivery_client-{__version__}"
_USE: Final = """\
import base64, datetime, hmac, json, sys, time
sys.path.append(sys.argv[1])
import notify_client
from notify_client import InvalidSignature, webhooks
notify_client.Client("http://127.0.0.1:9", "nk_test_x").close()
key = b"the secret of a webhook."
secret = "whsec_" + base64.b64encode(key).decode()
body = b'{"type": "test", "timestamp": "2026-11-28T00:00:00Z", "data": {}}'
at = str(int(time.time()))
digest = hmac.digest(key, b"m_1." + at.encode() + b"." + body, "sha256")
headers = {"webhook-id": "m_1", "webhook-timestamp": at}
headers["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
assert webhooks.verify(body, headers, secret)["type"] == "test"
try:
    webhooks.verify(body + b" ", headers, secret)
except InvalidSignature:
    print(notify_client.__version__, notify_client.__file__)
    print(*{name.partition(".")[0] for name in sys.modules})
"""
"""Makes a client, and verifies a signed webhook and a changed one."""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's folder with the files of git."""
    folder = tmp_path_factory.mktemp("released")
    released_files.copy("clients/python", folder)
    return folder / "clients" / "python"


@pytest.fixture(scope="module")
def sdist(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    code = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    _run(sys.executable, "-c", code, folder=released)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _wheel(released, tmp_path_factory.mktemp("wheel"))


def _wheel(source: Path, folder: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps")
    _run(*pip, "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    (made,) = folder.glob("*.whl")
    return made


def _run(*command: str, folder: Path | None = None) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _members(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(archive.namelist())


def _modules() -> list[str]:
    sources = repository.files("clients/python/src")
    return sorted(path.removeprefix("clients/python/src/") for path in sources)


def test_the_wheel_has_the_modules_of_git_the_licence_and_nothing_else(wheel: Path) -> None:
    info = [f"{_NAME}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL")]
    info += [f"{_NAME}.dist-info/{name}" for name in ("entry_points.txt", "licenses/LICENSE")]
    info += [f"{_NAME}.dist-info/top_level.txt"]
    assert "notify_client/py.typed" in _modules()
    assert _members(wheel) == sorted([*_modules(), *info])


def test_the_metadata_have_version_licence_dependency_and_readme(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        said = archive.read(f"{_NAME}.dist-info/METADATA").decode()
    assert f"Version: {__version__}" in said
    assert "License-Expression: Apache-2.0" in said
    assert [line for line in said.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: httpx<1,>=0.27",
        "Requires-Dist: shtab<2,>=1.7",
    ]
    assert (_PACKAGE / "README.md").read_text() in said


def test_the_source_package_makes_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if "/" in name}
    needed = {"LICENSE", "README.md", "pyproject.toml", *(f"src/{each}" for each in _modules())}
    assert needed <= names
    assert [name for name in names if released_files.is_out_of_place(name)] == []
    assert _members(_wheel(sdist, tmp_path)) == _members(wheel)


@pytest.mark.parametrize("package", ["wheel", "sdist"])
def test_it_is_installed_into_an_empty_environment_and_used(
    package: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    built: Path = request.getfixturevalue(package)
    venv.create(tmp_path / "venv", with_pip=False)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index")
    if package == "sdist":  # an empty environment has no setuptools to build with
        built = _wheel(built, tmp_path)
    _run(*pip, "--no-deps", str(built))
    packages = str(Path(httpx.__file__).parents[1])
    said, modules = _run(python, "-I", "-c", _USE, packages).splitlines()
    version, file = said.split(maxsplit=1)
    assert version == __version__
    assert Path(file).is_relative_to(tmp_path / "venv")
    assert not {"django", "notifications", "providers", "notifyproj"} & set(modules.split())


def test_what_does_not_belong_into_a_package_is_found() -> None:
    for path in ("tests/test_a.py", "src/.env", "server.key", "a/secrets.json", "x/__pycache__/y"):
        assert released_files.is_out_of_place(path)
    assert not released_files.is_out_of_place("src/notify_client/_async/recipients.py")


def test_the_licence_is_the_projects() -> None:
    assert (_PACKAGE / "LICENSE").read_text() == (_ROOT / "LICENSE").read_text()


def test_what_builds_it_is_pinned() -> None:
    project = tomllib.loads((_PACKAGE / "pyproject.toml").read_text())
    assert project["build-system"]["requires"] == ["setuptools>=77"]
    pins = (_ROOT / "requirements-dev.txt").read_text()
    assert "\nsetuptools==" in pins
    assert "\nhttpx==" in pins
