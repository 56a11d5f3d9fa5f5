"""The instruments: bulk observations, and one sum over the processes of a host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.parser import text_string_to_metric_families

from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.telemetry import process_number
from notifications.core.telemetry.instruments import INSTRUMENTS, BatchHistogram

_COUNT: Final = """
import os, sys
from notifications.core.telemetry import exposition, instruments
instruments.ACCEPTED.labels("live", "P0").inc(int(sys.argv[1]))
instruments.SETTLE_SECONDS.observe_all([0.02] * int(sys.argv[1]))
if sys.argv[2:] == ["fork"]:
    if os.fork() == 0:
        instruments.ACCEPTED.labels("live", "P0").inc(100)
        os._exit(0)
    os.wait()
sys.stdout.buffer.write(exposition.text())
sys.stdout.flush()
os.kill(os.getpid(), 9)
"""


def _scrape(folder: Path, *arguments: str) -> dict[str, float]:
    """Count in a process that is killed after the scrape; return the scraped values by name."""
    done = subprocess.run(
        [sys.executable, "-c", _COUNT, *arguments],
        env={**os.environ, process_number.FOLDER: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    families = text_string_to_metric_families(done.stdout)
    return {each.name: each.value for family in families for each in family.samples}


def test_a_killed_process_leaves_its_counts_to_the_next(tmp_path: Path) -> None:
    totals = [_scrape(tmp_path, "5") for _ in range(3)]
    assert [each["notifications_accepted_total"] for each in totals] == [5, 10, 15]
    assert [each["notifications_settle_seconds_count"] for each in totals] == [5, 10, 15]
    files = [each.name for each in tmp_path.glob("*.db")]
    assert sorted(files) == ["counter_0.db", "histogram_0.db"]


def test_a_child_of_a_fork_adds_to_the_sum_and_counts_nothing_twice(tmp_path: Path) -> None:
    assert _scrape(tmp_path, "5", "fork")["notifications_accepted_total"] == 105
    assert _scrape(tmp_path, "1")["notifications_accepted_total"] == 106


def test_a_batch_of_values_gives_the_same_histogram_as_single_values() -> None:
    values = [0.0, 0.1, 0.1000001, 5.0, 99.0, *(number * 0.0137 for number in range(500))]
    registries = [CollectorRegistry() for _ in range(2)]
    bounds = (0.1, 0.5, 5.0)
    BatchHistogram("x", "x", registry=registries[0], buckets=bounds).observe_all(values)
    single = Histogram("x", "x", registry=registries[1], buckets=bounds)
    for each in values:
        single.observe(each)
    for suffix, labels in (
        *(("_bucket", {"le": le}) for le in ("0.1", "0.5", "5.0", "+Inf")),
        ("_count", {}),
    ):
        ours, theirs = (each.get_sample_value(f"x{suffix}", labels) for each in registries)
        assert ours == theirs
        assert ours is not None
    ours, theirs = (each.get_sample_value("x_sum") for each in registries)
    assert abs((ours or 0) - (theirs or 1)) < 1e-6


def test_names_and_labels_follow_the_conventions_of_prometheus() -> None:
    bounded = {"mode", "priority", "channel", "status", "provider", "outcome", "stage"}
    bounded |= {"sweep", "result", "method", "route", "reason"}
    bounded |= {"lane", "ceiling", "country", "at"}
    for each in INSTRUMENTS:
        [family] = each.describe()
        assert family.name.startswith("notifications_")
        assert family.name.endswith("_seconds") == (family.type == "histogram")
        assert set(each._labelnames) <= bounded
    assert len(Mode) * len(Priority) * 6 * len(Status) < 1_000  # the largest counter is bounded
