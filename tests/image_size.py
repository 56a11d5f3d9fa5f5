"""`python -m tests.image_size`: the size of the image's layers, without Docker.

Runs the RUN steps of the Dockerfile in a folder, with the files that .dockerignore lets through,
and prints the size of each layer as an uncompressed tar and compressed by gzip. The layers of the
base image are not measured. Needs the Python version of the image and an index of packages.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.clock import ROOT

_MIB: Final = 2**20
_LEVEL: Final = 6
"""Of gzip, as `docker push` compresses a layer."""
_STEP: Final = re.compile(r"^RUN ((?:.*\\\n)*.*)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"^\s*#.*\n", re.MULTILINE)
_PREFIX: Final = "PYTHONPYCACHEPREFIX"


def main() -> int:
    """Build the layers in a folder and print their sizes; returns the exit code."""
    version = re.search(r"python:(\d+\.\d+)", (ROOT / "Dockerfile").read_text())
    if version is None or sys.version_info[:2] != tuple(map(int, version[1].split("."))):
        sys.stderr.write(f"Run this with the Python of the image: {version and version[1]}.\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="image-size-", dir="/var/tmp") as name:
        _measure(Path(name))
    return 0


def _measure(folder: Path) -> None:
    text = _COMMENT.sub("", (ROOT / "Dockerfile").read_text())
    install, _user, compile_all, collect = (
        each.replace("\\\n", " ").replace("/venv", str(folder / "venv"))
        for each in _STEP.findall(text)
    )
    app, standard = folder / "app", folder / "standard"
    _copy(app)
    _run(install, folder=app)
    _report("packages: /venv", files := _files(folder / "venv"))
    (app / "runtime.txt").unlink()
    before = _files(app)
    _report("sources: COPY . .", before)
    _run(compile_all, folder=app, python=folder / "venv")
    compiled = _files(app) - before
    _report("compiled sources", compiled)
    _run(collect, folder=app, python=folder / "venv")
    collected = _files(app) - before - compiled
    _report("static files", collected)
    # The modules of the standard library that collectstatic loads: of the base image, not compiled.
    _run(collect, folder=app, python=folder / "venv", **{_PREFIX: str(standard)})
    library = standard / Path(os.__file__).parent.relative_to("/")
    loaded = {
        each for each in _files(library) if not {"site-packages", "dist-packages"} & set(each.parts)
    }
    _report("compiled standard library", loaded)
    _report("all layers above the base image", files | before | compiled | collected | loaded)


def _copy(app: Path) -> None:
    """Copy the tracked files that .dockerignore lets through."""
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    wanted = [each[1:] for each in rules if each.startswith("!")]
    listed = subprocess.run(
        ["/usr/bin/env", "git", "ls-files", "-z", "--", *(f":(glob){each}" for each in wanted)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, app / name)


def _run(command: str, *, folder: Path, python: Path | None = None, **environ: str) -> None:
    own = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    path = f"{python}/bin:" if python else ""
    own |= {"PATH": f"{path}{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder)}
    subprocess.run(
        ["/bin/sh", "-ec", command],
        cwd=folder,
        env=own | environ,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _files(folder: Path) -> set[Path]:
    return {each for each in folder.rglob("*") if each.is_symlink() or each.is_file()}


def _report(layer: str, files: Iterable[Path]) -> None:
    with tempfile.TemporaryFile() as packed:
        with (
            gzip.open(packed, "wb", compresslevel=_LEVEL) as squeezed,
            tarfile.open(fileobj=squeezed, mode="w") as tar,
        ):
            for each in sorted(files):
                tar.add(each, recursive=False)
            size = tar.offset
        line = f"{size / _MIB:8.1f} MiB {packed.tell() / _MIB:8.1f} MiB  {layer}"
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
