"""The Java client: compiled without a warning, and its program against the real service."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.clients import compiled, java_files
from tests.clients.compiled import Tool
from tests.clients.python.relay import Relay
from tests.clients.service import Service

_HINT: Final = "run: python -m tests.clients.java_files"

_STRICT: Final = ("-Xlint:all", "-Xdoclint:html,syntax,reference", "-Werror")


@pytest.fixture(scope="module")
def javac() -> Tool:
    """The compiler of a JDK."""
    found = shutil.which("javac")
    if found is None:
        pytest.skip("javac is not installed: the Java client needs JDK 17 or later")
    return Tool(Path(found).resolve())


@pytest.fixture(scope="module")
def classes(javac: Tool, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the compiled client and its program."""
    classes = tmp_path_factory.mktemp("java")
    sources = [str(path) for path in sorted((java_files.CLIENT / "src").rglob("*.java"))]
    javac.succeed(*_STRICT, "-d", str(classes), *sources, folder=java_files.CLIENT)
    return classes


def test_the_generated_files_are_those_of_the_document() -> None:
    for name, made in java_files.sources().items():
        committed = (java_files.FOLDER / name).read_text()
        assert compiled.code_of(committed) == compiled.code_of(made), _HINT


def test_the_client_compiles_and_its_program_succeeds(
    javac: Tool, classes: Path, service: Service, relay: Relay
) -> None:
    program = ("-cp", str(classes), f"{java_files.PACKAGE}.ServiceTest")
    java = javac.beside("java")
    compiled.run_program(java, *program, folder=classes, service=service, relay=relay)


def test_the_programs_of_the_readme_compile_and_send(
    javac: Tool, classes: Path, service: Service, tmp_path: Path
) -> None:
    text = (java_files.CLIENT / "README.md").read_text()
    programs = re.findall(r"^```java\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names = [name for each in programs for name in re.findall(r"public final class (\w+)", each)]
    for name, program in zip(names, programs, strict=True):
        (tmp_path / f"{name}.java").write_text(program)
    files = [f"{name}.java" for name in names]
    javac.succeed(*_STRICT, "-cp", str(classes), "-d", ".", *files, folder=tmp_path)
    path = f"{classes}:{tmp_path}"
    variables = compiled.demo(service)
    printed = javac.beside("java").succeed("-cp", path, names[0], folder=tmp_path, **variables)
    assert re.fullmatch(r"([0-9a-f-]{36} \w+\n)+", printed)
