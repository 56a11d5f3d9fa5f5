"""The published OpenAPI document is the code's, two linters find nothing, and no client breaks."""

from __future__ import annotations

import difflib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.api.breaks import breaks
from tests.architecture import last_release, openapi_page

ROOT: Final = Path(__file__).parents[2]
CHECK: Final = ROOT / ".ci" / "api" / "check"


def _has_node() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor, *_ = said.strip().removeprefix("v").split(".")
    return (int(major), int(minor)) >= (20, 19)


needs_npm = pytest.mark.skipif(
    not _has_node(), reason="no npm with Node.js 20.19 or later here: install them"
)


def test_the_document_is_generated_from_the_code() -> None:
    # A fresh process, as `make api` uses: other tests override settings and views.
    program = "from tests.architecture import openapi_page as page; print(page.text(), end='')"
    command = [sys.executable, "-c", f"import django; django.setup(); {program}"]
    made = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    stored = openapi_page.PAGE.read_text()
    changes = difflib.unified_diff(stored.splitlines(), made.stdout.splitlines(), n=1, lineterm="")
    assert "\n".join(list(changes)[:40]) == "", "run: make api"


def test_each_field_of_a_notification_has_a_description() -> None:
    schemas = json.loads(openapi_page.PAGE.read_text())["components"]["schemas"]
    names = ["NotificationRequest", "To", "Content", "ContentAction"]
    fields = {f"{name}.{field}": shape for name in names for field, shape in _fields(schemas, name)}
    assert len(fields) > 20
    assert [name for name, shape in fields.items() if not shape.get("description")] == []


def _fields(schemas: dict[str, Any], name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    found: dict[str, dict[str, Any]] = schemas[name]["properties"]
    return found.items()


def test_nothing_breaks_a_client_of_the_last_release() -> None:
    tag = last_release.tag()
    if tag is None:
        pytest.skip(last_release.why_none())
    released = json.loads(last_release.text("docs/openapi.json", of=tag))
    found = breaks(released, json.loads(openapi_page.text()))
    assert found == [], "announce the end of an operation (api/deprecation.py) instead"


@needs_npm
def test_the_linters_find_nothing() -> None:
    run = subprocess.run([CHECK], capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr


@needs_npm
def test_the_linters_would_find_something(tmp_path: Path) -> None:
    document = json.loads(openapi_page.PAGE.read_text())
    del document["paths"]["/v1/me"]["get"]["description"]
    broken = tmp_path / "openapi.json"
    broken.write_text(json.dumps(document))
    run = subprocess.run([CHECK, broken], capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode != 0
    assert "operation-description" in run.stdout
