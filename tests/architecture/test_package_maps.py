"""The docstring of each package names each module of the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

_ROOT: Final = Path(__file__).resolve().parents[2]
_NAMED_AFTER_PAGES: Final = {"admin", "api", "management", "migrations", "models"}
"""Packages whose modules have the names of pages, paths, commands and tables."""
_OF_FRAMEWORKS: Final = {"__init__", "apps"}
_OF_FEATURES: Final = {"access", "admin", "api", "models", "rows", "rules", "sweep"}
"""Parts with the same meaning in each feature, which `notifications/features` explains."""
_PACKAGES: Final = sorted(
    each.parent.relative_to(_ROOT).as_posix()
    for each in (_ROOT / "notifications").rglob("__init__.py")
    if _NAMED_AFTER_PAGES.isdisjoint(each.parts)
)


@pytest.mark.parametrize("package", _PACKAGES)
def test_the_docstring_of_a_package_names_each_module(package: str) -> None:
    folder = _ROOT / package
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    modules = {each.stem for each in folder.glob("*.py")} - _OF_FRAMEWORKS
    packages = {each.parent.name for each in folder.glob("*/__init__.py")} - {"migrations"}
    parts = modules | packages
    if folder.parent.name == "features":
        parts -= _OF_FEATURES
    assert parts <= set(re.findall(r"\w+", docstring))
