"""`.env` is written whole, once, and each form of a line is read as Compose and `sh` read it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifyproj.first_start import env_file
from notifyproj.first_start.terminal import Refused


def test_of_two_runs_at_a_time_one_writes(tmp_path: Path) -> None:
    texts = [f"{letter * 100_000}\n" for letter in "abcdefgh"]
    with ThreadPoolExecutor(len(texts)) as threads:
        wrote = list(threads.map(lambda text: env_file.write(tmp_path / ".env", text), texts))
    assert wrote.count(True) == 1
    assert (tmp_path / ".env").read_text() == texts[wrote.index(True)]
    assert [each.name for each in tmp_path.iterdir()] == [".env"]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_value_is_read_as_it_was_written_or_refused(value: str) -> None:
    in_single_quotes = "'" not in value and not value.endswith("\\")
    in_double_quotes = not set(value) & set('"$`\\')
    if not value.isprintable() or not (in_single_quotes or in_double_quotes):
        with pytest.raises(Refused):
            env_file.line("NAME", value)
        return
    found = env_file._ASSIGNMENT.fullmatch(env_file.line("NAME", value))
    assert found is not None
    assert env_file._value(found) == value


def test_other_forms_of_a_line_are_read(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(
        b'# A=\'1\'\r\nexport B=plain # comment\r\nC="a\\"b\\n"\r\nD=\n'
        b" E = 'two\nlines'\nF=#x\nG='it\\'s'"
    )
    assert env_file.read(path) == {
        "B": "plain",
        "C": 'a"b\n',
        "D": "",
        "E": "two\nlines",
        "F": "",
        "G": "it's",
    }
