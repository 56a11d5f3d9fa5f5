"""The Go client: formatted, checked by `go vet`, and its program against the real service."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.clients import compiled, go_files
from tests.clients.python.relay import Relay
from tests.clients.service import Service

_HINT: Final = "run: python -m tests.clients.go_files"
_ENVIRON: Final = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOWORK": "off"}
"""No build reads a network."""


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> compiled.Tool:
    """Go with a cache of its own."""
    found = shutil.which("go")
    if found is None:
        pytest.skip("go is not installed: the Go client needs Go 1.19 or later")
    folder = tmp_path_factory.mktemp("go")
    caches = {name: str(folder / name) for name in ("GOCACHE", "GOMODCACHE", "GOPATH")}
    return compiled.Tool(Path(found).resolve(), {**_ENVIRON, **caches})


def test_the_generated_files_are_those_of_the_document() -> None:
    for name, made in go_files.sources().items():
        committed = (go_files.FOLDER / name).read_text()
        assert compiled.code_of(committed) == compiled.code_of(made), _HINT


def test_the_client_compiles_and_its_program_succeeds(
    go: compiled.Tool, service: Service, relay: Relay
) -> None:
    assert go.beside("gofmt").succeed("-l", ".", folder=go_files.FOLDER) == ""
    test = ("test", "-vet=all", "-count=1", ".")
    compiled.run_program(go, *test, folder=go_files.FOLDER, service=service, relay=relay)


def test_the_programs_of_the_readme_compile_and_send(
    go: compiled.Tool, service: Service, tmp_path: Path
) -> None:
    text = (go_files.FOLDER / "README.md").read_text()
    for at, program in enumerate(re.findall(r"^```go\n(.*?)^```", text, re.MULTILINE | re.DOTALL)):
        (tmp_path / f"program{at}.go").write_text(program)
    [edit] = re.findall(r"^    go (mod edit .*)$", text, re.MULTILINE)
    go.succeed("mod", "init", "example.com/reader", folder=tmp_path)
    local = edit.replace("../notifications/clients/go", str(go_files.FOLDER))
    go.succeed(*local.split(), folder=tmp_path)
    go.succeed("vet", ".", folder=tmp_path)
    printed = go.succeed("run", ".", folder=tmp_path, **compiled.demo(service))
    assert re.fullmatch(r"([0-9a-f-]{36} \w+\n)+", printed)
