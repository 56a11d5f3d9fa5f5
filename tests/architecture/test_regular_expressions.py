"""Regular expressions have no possessive group, which Python before 3.11.5 matches wrongly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.repository import CODE, ROOT, python_files

_POSSESSIVE_GROUP: Final = re.compile(r"(?<![\\(\[])\)(?:[*+?]|\{[0-9,]+\})\+|\(\?>")
"""`\\)` and `[)` are characters, and `()` is a pair of brackets in a text."""


def _lines() -> list[tuple[str, str]]:
    """Return place and text of the lines of all modules but this one."""
    this = str(Path(__file__).relative_to(ROOT))
    return [
        (f"{path}:{number}", line)
        for path in python_files(*CODE)
        if path != this
        for number, line in enumerate((ROOT / path).read_text().splitlines(), start=1)
    ]


def test_no_group_is_possessive() -> None:
    lines = _lines()
    assert len(lines) > 100_000
    found = [where for where, line in lines if _POSSESSIVE_GROUP.search(line)]
    assert found == [], (
        "Python 3.11 before 3.11.5 matches a possessive or atomic group wrongly: make the"
        " alternatives of the group exclusive, which needs no possessive quantifier;"
        " [...]*+ of one character is right everywhere"
    )


@pytest.mark.parametrize(
    "pattern", ["(?:a|b)*+", "(?:a|b)++", "(a)?+", "(?:a){2,3}+", "(?>a|b)", "(?:[ab])*+c"]
)
def test_a_possessive_group_is_found(pattern: str) -> None:
    assert _POSSESSIVE_GROUP.search(pattern)


@pytest.mark.parametrize("pattern", ["[^)]*+", r"\)*+", "'()*+,;=", "(?:a|b)*", "[)*+]"])
def test_a_possessive_character_is_none(pattern: str) -> None:
    assert not _POSSESSIVE_GROUP.search(pattern)
