"""Spans of a process: the last ones leave at its end, also from a child of a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.otlp import OtlpCollector

_RECORD: Final = """
import multiprocessing, os, sys
from notifications.core.telemetry import spans, traces
traces.start()

def record(name):
    spans.record(name, kind=spans.CLIENT, parent=sys.argv[1], attributes={"n": 1}, seconds=1.5)

if __name__ == "__main__":
    record("parent")
    if os.fork() == 0:
        record("child of fork")
        sys.exit()
    os.wait()
    child = multiprocessing.get_context("spawn").Process(target=record, args=("spawned child",))
    child.start()
    child.join()
    print("ended")
"""
_PARENT: Final = f"00-{'a' * 32}-{'b' * 16}-01"


def _run(collector: OtlpCollector, tmp: Path) -> subprocess.CompletedProcess[str]:
    program = tmp / "record.py"
    program.write_text(_RECORD)
    environ = {
        **os.environ,
        **collector.environ(),
        "OTEL_BSP_SCHEDULE_DELAY": "60000",  # the end of the process exports, not the rhythm
        "PYTHONPATH": str(Path.cwd()),
    }
    return subprocess.run(
        [sys.executable, program, _PARENT],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )


def test_the_last_spans_of_every_kind_of_process_arrive(tmp_path: Path) -> None:
    with OtlpCollector() as collector:
        assert "ended" in _run(collector, tmp_path).stdout
    spans = collector.of("a" * 32)
    assert set(spans) == {"parent", "child of fork", "spawned child"}
    assert len(collector.spans) == 3
    assert {each.parent_id for each in spans.values()} == {"b" * 16}
    assert {each.service for each in spans.values()} == {"notifications"}
    assert {round(each.seconds, 3) for each in spans.values()} == {1.5}


def test_a_collector_that_hangs_does_not_keep_a_process_alive(tmp_path: Path) -> None:
    with OtlpCollector(hangs=True) as collector:
        assert "ended" in _run(collector, tmp_path).stdout
        assert collector.asked.is_set()
