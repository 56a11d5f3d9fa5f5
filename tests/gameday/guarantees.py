"""The rows of docs/guarantees.md, and what pytest says about their scenarios."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "guarantees.md"
_FOLDER: Final = "tests/scenarios"
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A row of the table."""

    cells: tuple[str, ...]
    """Event, loss, duplicates and scenarios, as the page has them."""

    @property
    def scenarios(self) -> list[str]:
        """Paths of the files and folders of the last cell, from the root of the project."""
        names = [part.strip(" `") for part in self.cells[-1].split(",")]
        return [name if "/" in name else f"{_FOLDER}/{name}.py" for name in names]


def read(page: str) -> list[Guarantee]:
    """Return the rows of the first table of a page.

    Raises:
        ValueError: a row has not four cells.
    """
    rows = page[page.index("\n| --- ") :].split("\n\n", 1)[0].strip().splitlines()[1:]
    found = [Guarantee(tuple(cell.strip() for cell in row.strip("|").split(" | "))) for row in rows]
    for each in found:
        if len(each.cells) != 4:
            raise ValueError(f"a row of the guarantees has {len(each.cells)} cells: {each.cells}")
    return found


def play(scenario: str, *, logs: Path) -> str:
    """Run a file or folder of tests; return `held`, `failed (...)` or `skipped (...)`.

    The output of pytest is in a file of `logs`, and the result names the file after a failure.
    """
    name = Path(scenario).stem
    report, log = logs / f"{name}.xml", logs / f"{name}.log"
    report.unlink(missing_ok=True)
    with log.open("wb") as output:
        ended = subprocess.run(
            # The family of reports with properties, such as the seconds without a 202.
            [
                sys.executable,
                "-m",
                "pytest",
                scenario,
                f"--junitxml={report}",
                "-ojunit_family=xunit1",
            ],
            cwd=ROOT,
            env={**os.environ, "TEST_PROCESSES": "0"},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return result_of(report, status=ended.returncode, log=log)


def result_of(report: Path, *, status: int, log: Path) -> str:
    """Return the result by a report of pytest, its exit status and the file of its output."""
    cases = list(ET.parse(report).iter("testcase")) if report.exists() else []  # noqa: S314 - written by pytest
    failed = [
        case.get("name", "")
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    reasons = {
        case.get("name", ""): skipped.get("message", "")
        for case in cases
        if (skipped := case.find("skipped")) is not None
    }
    if failed or status:
        what = ", ".join(failed) or f"pytest ended with {status}"
        return f"{FAILED} ({what}: see {log})"
    if len(reasons) == len(cases):
        return f"skipped ({'; '.join(sorted(set(reasons.values())))})"
    figures = [
        f"{each.get('name')}: {each.get('value')}"
        for case in cases
        for each in case.iter("property")
    ]
    held = f"held ({', '.join(figures)})" if figures else "held"
    if reasons:
        said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        return f"{held}; skipped ({said})"
    return held


def table(
    chosen: Sequence[Guarantee], results: Mapping[str, str], *, day: dt.date
) -> Iterator[str]:
    """Yield the lines of the table, with the result of each promise in a column of the day."""
    yield f"| what happens | lost | duplicates | shown by | {day:%Y-%m-%d} |"
    yield "| --- | --- | --- | --- | --- |"
    for each in chosen:
        played = list(dict.fromkeys(results[name] for name in each.scenarios))
        yield f"| {' | '.join(each.cells)} | {'; '.join(played)} |"
