"""Docstrings and names stay plain: the table sets a limit for each package, which may only fall.

The measured words are symptoms. A failing text needs a clearer sentence: a noun as subject, a verb,
an object, and the noun of each pronoun in the same sentence.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

_ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    """Upper limits for a package; the defaults are the aim."""

    pronouns: float = 5.0
    """Pronouns in 100 words of docstrings."""
    who: float = 0.3
    """Words such as who, what and nobody in 100 words of docstrings."""
    participles: float = 2.0
    """Percentage of functions with a participle as name, or at its beginning."""
    openings: int = 0
    """Docstrings that open with a question word."""
    repeated_classes: int = 0
    """Class names that are defined more than once."""


_PACKAGES: Final = {
    "notifications": _Limits(),
    "notifications/core": _Limits(),
    "notifications/core/alerting": _Limits(),
    "notifications/core/delivery": _Limits(),
    "notifications/features": _Limits(),
    "notifications/core/intake": _Limits(),
    "notifications/core/feedback": _Limits(),
    "notifications/core/scheduling": _Limits(),
    "notifications/core/operations": _Limits(),
    "notifications/core/sweeps": _Limits(),
    "notifications/core/tasks": _Limits(),
    "notifications/core/webhooks": _Limits(),
    "notifications/core/figures": _Limits(),
    "notifications/core/store": _Limits(),
    "notifications/core/rules": _Limits(),
    "notifications/core/models": _Limits(),
    "notifications/core/telemetry": _Limits(),
    "notifications/core/templatetags": _Limits(),
    "notifications/core/api": _Limits(),
    "notifications/core/admin": _Limits(),
    "notifications/core/management": _Limits(),
    "providers": _Limits(),
    "clients": _Limits(repeated_classes=2),
    "notifyproj": _Limits(),
    "tests": _Limits(pronouns=10.6, who=2.9, participles=4.0, openings=155, repeated_classes=11),
}
"""By package."""
_ROOTS: Final = {"notifications", "notifications/core"}
"""Packages that stand for their own modules, without their packages."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]*")
_PRONOUNS: Final = frozenset(
    _WORD.findall(
        "i me my we us our you your he him his she her it its they them their theirs this that"
        " these those one ones each both others another somebody anybody everybody nobody nothing"
        " something anything everything none whoever whatever"
    )
)
_WHO: Final = frozenset(
    _WORD.findall("who whom whose what whoever whatever nobody somebody anybody everybody anyone")
)
_PARTICIPLES: Final = frozenset(
    _WORD.findall(
        "told made asked said found known wanted taken won born planned given held kept seen left"
        " gone done meant sent shown thought heard"
    )
)
"""Beside names on `-ed`; `read` is left out, because the verb has the same form."""
_MODEL_FIELDS: Final = frozenset({"shared_secret_until"})
"""Columns as properties of a protocol: a column keeps its name."""
_FIXED_CLASSES: Final = frozenset({"Command", "Config", "Media", "Meta"})
"""Names that Django prescribes, and `Config`, which `providers.registry` finds in each adapter."""
_OPENING: Final = re.compile(r"(What|Whether|Where|When|How|Who|Whom|Whose|Which|Why)\b")
_CODE: Final = re.compile(r"``[^`]*``|`[^`]*`|https?://\S+|^\s{4,}\S.*$", re.MULTILINE)
_SHORTEST_ED: Final = len("used")


def _trees(package: str) -> list[ast.Module]:
    folder = _ROOT / package
    paths = folder.glob("*.py") if package in _ROOTS else folder.rglob("*.py")
    return [ast.parse(path.read_text()) for path in sorted(paths) if "migrations" not in path.parts]


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield text


def _texts(tree: ast.Module) -> Iterator[str]:
    """Docstrings, and the texts below attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
            case _:
                pass


def _words(package: str) -> list[str]:
    return [
        word.lower()
        for tree in _trees(package)
        for text in _docstrings(tree)
        for word in _WORD.findall(_CODE.sub(" ", text))
    ]


def _is_participle(name: str) -> bool:
    first = name.strip("_").split("_")[0]
    return first in _PARTICIPLES or (first.endswith("ed") and len(first) > _SHORTEST_ED)


def _per_hundred(count: int, total: int) -> float:
    return 100 * count / max(1, total)


@pytest.mark.parametrize("package", _PACKAGES)
def test_docstrings_name_their_subjects(package: str) -> None:
    words, limits = _words(package), _PACKAGES[package]
    pronouns = _per_hundred(sum(word in _PRONOUNS for word in words), len(words))
    who = _per_hundred(sum(word in _WHO for word in words), len(words))
    assert pronouns <= limits.pronouns
    assert who <= limits.who


@pytest.mark.parametrize("package", _PACKAGES)
def test_docstrings_open_with_a_statement(package: str) -> None:
    questions = [
        text for tree in _trees(package) for text in _texts(tree) if _OPENING.match(text.lstrip())
    ]
    assert len(questions) <= _PACKAGES[package].openings, questions


@pytest.mark.parametrize("package", _PACKAGES)
def test_functions_are_not_named_by_participles(package: str) -> None:
    names = [
        node.name
        for tree in _trees(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name not in _MODEL_FIELDS
    ]
    participles = [name for name in names if _is_participle(name)]
    assert _per_hundred(len(participles), len(names)) <= _PACKAGES[package].participles, participles


@pytest.mark.parametrize("package", _PACKAGES)
def test_a_class_name_means_one_thing_in_a_package(package: str) -> None:
    counts = Counter(
        node.name
        for tree in _trees(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and node.name not in _FIXED_CLASSES
    )
    repeated = [name for name, count in counts.items() if count > 1]
    assert len(repeated) <= _PACKAGES[package].repeated_classes, repeated


def test_the_table_lists_every_package() -> None:
    packages = {
        str(path.parent.relative_to(_ROOT))
        for root in _ROOTS
        for path in (_ROOT / root).glob("*/__init__.py")
        if path.parent.name != "migrations"
    }
    assert packages <= set(_PACKAGES)
