"""`.ci/run` runs tests that exist, and the test command of README is a part of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PARTS = _ROOT / ".ci" / "clock_parts"
_RUN = _ROOT / ".ci" / "run"


def test_each_part_that_depends_on_the_clock_exists() -> None:
    parts = [line for line in _PARTS.read_text().splitlines() if not line.startswith("#")]
    assert parts
    assert [part for part in parts if not (_ROOT / part).exists()] == []


def test_the_command_of_readme_is_a_part_of_what_ci_runs() -> None:
    assert "\n    make test " in (_ROOT / "README.md").read_text()
    asked = ["make", "--dry-run", "--silent", "--old-file=.venv/tools"]
    # Without the variables of a `make test ONLY=...` that runs this test.
    environ = {"PATH": os.environ["PATH"]}
    test, test_all = (
        subprocess.run(
            [*asked, target], cwd=_ROOT, env=environ, capture_output=True, text=True, check=True
        ).stdout.strip()
        for target in ("test", "test-all")
    )
    assert test == f"{test_all} -m 'not slow' --hypothesis-profile=brief"
    # Each test once, but of the files with slow tests a third; those of the clock parts at another
    # time than the others.
    run = _RUN.read_text()
    assert 'test-all EXCEPT="$clock_parts" SLOW_THIRD="$third"' in run
    assert 'test-all CLOCK="$clock" ONLY="$clock_parts"' in run


@pytest.mark.parametrize("third", ["3", "no"])
def test_a_third_that_does_not_exist_is_refused(third: str) -> None:
    done = subprocess.run(
        [_RUN],
        env={"THIRD": third, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, f"THIRD={third}: choose 0, 1 or 2.\n")
