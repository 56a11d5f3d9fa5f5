"""A file or function that outgrows a screen or two is cut before it lands."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.repository import ROOT, python_files

_LONGEST_FILE = 400
_LONGEST_FUNCTION = 40
"""Lines, from `def` to the last statement, without the docstring."""


def _sources() -> list[Path]:
    """Python files that git tracks or would: no environment, no data, no migrations."""
    paths = [ROOT / path for path in python_files()]
    return [path for path in paths if "migrations" not in path.parts]


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    last = function.body[-1].end_lineno or function.lineno
    lines = last - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return lines


def _too_long(path: Path) -> list[str]:
    text = path.read_text()
    name = path.relative_to(ROOT)
    functions = [
        f"{name}: {node.name}, {_body_lines(node)} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _body_lines(node) > _LONGEST_FUNCTION
    ]
    lines = len(text.splitlines())
    return [*functions, *([f"{name}: {lines} lines"] if lines > _LONGEST_FILE else [])]


def test_files_and_functions_stay_short() -> None:
    assert [found for path in _sources() for found in _too_long(path)] == []
