"""The icons that pages of the admin name: `python -m tests.architecture.icons` prints the names.

An icon is a word in the font Material Symbols: the font draws the word `search` as a magnifier. The
pages load a part of the font with the icons of this list alone (`.ci/fonts/build`); an icon outside
that part would show its word.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import unfold

_ROOT: Final = Path(__file__).parents[2]
_UNFOLD: Final = Path(unfold.__file__).parent
FONTS: Final = _ROOT / "notifications" / "core" / "static" / "notifications" / "fonts"
_ELEMENT: Final = re.compile(
    r"material-symbols-outlined[^>]*>(.*?)</(?:span|button|a|i)>", re.DOTALL
)
_MARKUP: Final = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>", re.DOTALL)
_TERNARY: Final = re.compile(r"x-text=\"([^\"]*)\"")
_ARGUMENT: Final = re.compile(r"\b\w*(?:icon|symbol)=[\"']([a-z0-9_]+)[\"']")
_CONTENT: Final = re.compile(r"content:\s*\"([a-z0-9_]{3,})\"|content-\['([a-z0-9_\\]+)'\]")
_WORD: Final = re.compile(r"[a-z0-9_]+")
_NAMES: Final = ("icon", "symbol")
"""Arguments, fields and keys that name an icon, also as the end of a longer name."""


def named() -> frozenset[str]:
    """Return the icons of the menu, of actions, of templates and of unfold's style sheets."""
    found: set[str] = set()
    for folder in (_ROOT / "templates", _ROOT / "notifications", _UNFOLD):
        for template in folder.rglob("*.html"):
            found.update(in_template(template.read_text()))
    for folder in (_ROOT / "notifications", _ROOT / "notifyproj", _UNFOLD):
        for module in folder.rglob("*.py"):
            found.update(in_module(module.read_text()))
    for sheet in (_UNFOLD / "static").rglob("*.css"):
        found.update(_contents(sheet.read_text()))
    return frozenset(found)


def kept() -> frozenset[str]:
    """Return the icons that the font of the pages has."""
    return frozenset((FONTS / "icons.txt").read_text().split())


def in_template(text: str) -> Iterator[str]:
    """Yield the icons that a template names."""
    for element in _ELEMENT.finditer(text):
        yield from _WORD.findall(_MARKUP.sub(" ", element[1]))
        for choice in _TERNARY.finditer(element[1]):
            yield from re.findall(r"(?:&&|\|\||\?|:) '([a-z0-9_]+)'", choice[1])
    yield from (found[1] for found in _ARGUMENT.finditer(text))
    yield from _contents(text)


def in_module(text: str) -> Iterator[str]:
    """Yield the icons that a Python module names."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and _is_name(node.arg):
            yield from _words(node.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and _is_name(key.value):
                    yield from _words(value)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Item":
            yield from (word for each in node.args[1:2] for word in _words(each))
        elif isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "_SYMBOLS":
            yield from _words(node.value)
    yield from _contents(text)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.lower().endswith(_NAMES)


def _words(node: ast.expr | None) -> Iterator[str]:
    """Yield the icons of an expression: a string, a choice of strings, or the values of a dict."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_words(node.body), *_words(node.orelse))
    elif isinstance(node, ast.Dict):
        yield from (word for value in node.values for word in _words(value))


def _contents(text: str) -> Iterator[str]:
    for found in _CONTENT.finditer(text):
        yield (found[1] or found[2]).replace("\\", "")


if __name__ == "__main__":
    sys.stdout.write("".join(f"{name}\n" for name in sorted(named())))
