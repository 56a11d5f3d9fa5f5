"""The game day reads the page of guarantees, and tells which promises held."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final

import pytest

from tests.gameday import __main__ as gameday
from tests.gameday import guarantees

_PAGE: Final = """# Guarantees

| what happens | lost | duplicates | shown by |
| --- | --- | --- | --- |
| a worker is killed | nothing | 0 | `test_killed_worker` |
| a day is archived | nothing | - | `tests/features/archive/test_days.py`, `tests/rules/` |

| run | accepted |
| --- | --- |
| thirty kills | 1 |
"""
_KILLED: Final = "tests/scenarios/test_killed_worker.py"
_DAYS: Final = "tests/features/archive/test_days.py"


def test_each_promise_names_tests_that_exist() -> None:
    known = guarantees.read(guarantees.PAGE.read_text())
    named = {name for each in known for name in each.scenarios}
    assert {name for name in named if not (guarantees.ROOT / name).exists()} == set()
    stems = [Path(name).stem for name in named]
    assert len(set(stems)) == len(stems)  # names of the command line and of the logs
    assert set(stems) >= set(gameday.MONTHLY)


def test_the_rows_of_the_first_table_are_read() -> None:
    killed, archived = guarantees.read(_PAGE)
    assert killed.cells == ("a worker is killed", "nothing", "0", "`test_killed_worker`")
    assert killed.scenarios == [_KILLED]
    assert archived.scenarios == [_DAYS, "tests/rules/"]


def test_a_row_without_a_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="a worker is killed"):
        guarantees.read(_PAGE.replace(" | 0 |", " |", 1))


_PASSES = "def test_one(): pass"
_MEASURES = "def test_one(record_property): record_property('seconds', 1.5)"
_SKIPS = "import pytest\ndef test_two(): pytest.skip('no docker')"


@pytest.mark.parametrize(
    ("body", "result"),
    [
        (f"{_MEASURES}\n{_SKIPS}", "held (seconds: 1.5); skipped (test_two: no docker)"),
        (f"{_PASSES}\ndef test_two(): assert 0", "failed (test_two: see {log})"),
        ("import os\ndef test_one(): os._exit(3)", "failed (pytest ended with 3: see {log})"),
    ],
    ids=["held", "failed", "killed"],
)
def test_the_result_of_a_scenario_is_told(tmp_path: Path, body: str, result: str) -> None:
    scenario = tmp_path / "test_it.py"
    scenario.write_text(f"{body}\n")
    (tmp_path / "test_it.xml").write_text("<a report of an earlier game day>")
    told = guarantees.play(str(scenario), logs=tmp_path)
    assert told == result.format(log=tmp_path / "test_it.log")


@pytest.mark.parametrize(
    ("cases", "status", "result"),
    [
        ("<testcase name='a'/>", 0, "held"),
        ("<testcase name='a'><skipped message='no docker'/></testcase>", 0, "skipped (no docker)"),
        ("<testcase name='a'><error/></testcase>", 1, "failed (a: see log)"),
        ("", 5, "failed (pytest ended with 5: see log)"),
    ],
)
def test_a_report_is_read(tmp_path: Path, cases: str, status: int, result: str) -> None:
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert guarantees.result_of(report, status=status, log=Path("log")) == result


def test_the_table_has_a_column_of_the_day() -> None:
    chosen = guarantees.read(_PAGE)
    results = {_KILLED: "held", _DAYS: "held", "tests/rules/": "skipped (why)"}
    lines = list(guarantees.table(chosen, results, day=dt.date(2026, 11, 29)))
    assert lines == [
        "| what happens | lost | duplicates | shown by | 2026-11-29 |",
        "| --- | --- | --- | --- | --- |",
        "| a worker is killed | nothing | 0 | `test_killed_worker` | held |",
        f"| a day is archived | nothing | - | `{_DAYS}`, `tests/rules/` | held; skipped (why) |",
    ]


@pytest.mark.parametrize(("result", "status"), [("held", 0), ("skipped (why)", 0), ("failed", 1)])
def test_the_exit_status_is_1_if_a_promise_failed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    result: str,
    status: int,
) -> None:
    monkeypatch.setattr(gameday, "_LOGS", tmp_path)
    monkeypatch.setattr(gameday, "play", lambda _name, logs: result)  # noqa: ARG005 - by name
    assert gameday.main(["test_poison"]) == status
    assert f"`test_poison` | {result} |" in capsys.readouterr().out


def test_an_unknown_scenario_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        gameday.main(["test_of_nothing"])
    said = capsys.readouterr().err
    assert "guarantees.md names no test_of_nothing; it names test_killed_worker" in said
