"""The glossary names modules that exist, and has the words of lanes, statuses and holds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from notifications.core.rules import lane
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status

_ROOT: Final = Path(__file__).parents[2]
_PAGE: Final = (_ROOT / "docs" / "glossary.md").read_text()
_FIRST_REASON_WITHOUT_HOLD: Final = Reason.RELEASED
"""`Reason` lists the holds first."""


def _section(title: str) -> list[list[str]]:
    """The cells of each row of the table under a heading, without the head of the table."""
    text = _PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


_WORDS: Final = {word: (meaning, module) for word, meaning, module in _section("Words")}


def test_each_word_has_one_sentence_and_one_line() -> None:
    assert len(_WORDS) == len(_section("Words"))
    assert [word for word, (said, _) in _WORDS.items() if ". " in said] == []
    assert [word for word, (said, _) in _WORDS.items() if not said.endswith(".")] == []


@pytest.mark.parametrize("word", _WORDS)
def test_the_module_of_a_word_exists(word: str) -> None:
    module = _WORDS[word][1].strip("`")
    assert (_ROOT / module).is_file(), module


def test_the_words_of_lanes_are_there() -> None:
    for each in (lane.Lane, lane.Mode, lane.Priority):
        assert _WORDS[each.__name__.lower()][1] == "`notifications/core/rules/lane.py`"
    assert all(f"`{mode.label}`" in _WORDS["mode"][0] for mode in Mode)
    assert all(f"{priority.name} " in _WORDS["priority"][0] for priority in Priority)


def test_the_statuses_are_those_of_the_code() -> None:
    assert [word for word, _ in _section("Statuses")] == [f"`{each.label}`" for each in Status]


def test_the_hold_reasons_are_those_of_the_code() -> None:
    members = list(Reason)
    holds = members[: members.index(_FIRST_REASON_WITHOUT_HOLD)]
    assert [word for word, _ in _section("Hold reasons")] == [f"`{each}`" for each in holds]
