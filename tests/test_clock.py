"""One clock for all processes of a run, also when the run has another clock than the machine."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import sys

import psycopg
import pytest
import redis

from notifications.core import clock
from notifications.core.rules import ids
from notifyproj.devstack.child_process import preload_variables
from notifyproj.devstack.servers import Stack
from tests.clock import ROOT

_MINUTE = dt.timedelta(minutes=1)
_ASKS = """
import datetime, threading, time
print(datetime.datetime.now(datetime.UTC).isoformat())
time.sleep(0.01)
threading.Event().wait(0.01)
threading.Lock().acquire(timeout=0.01)
"""


def test_postgres_and_valkey_have_the_clock_of_this_process(stack: Stack) -> None:
    with psycopg.connect(stack.urls()["DATABASE_URL"]) as link:
        row = link.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    assert abs(row[0] - clock.now()) < _MINUTE
    for name in ("REDIS_URL", "CELERY_BROKER_URL"):
        with redis.Redis.from_url(stack.urls()[name]) as client:
            seconds, _ = client.time()
        assert abs(dt.datetime.fromtimestamp(seconds, dt.UTC) - clock.now()) < _MINUTE


@pytest.mark.parametrize("count", [0, 1, 1_000])
def test_new_ids_of_a_list_ascend_and_have_the_millisecond_of_its_acceptance(count: int) -> None:
    at = dt.datetime(2026, 3, 1, 23, 59, 59, 999_900, tzinfo=dt.UTC)
    found = clock.new_notification_ids(count, at=at)
    assert found == sorted(found)
    assert len(set(found)) == count
    assert {ids.time_of(each) for each in found} <= {at.replace(microsecond=999_000)}
    assert all(ids.notification_of(each) == each for each in found)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(
    "when", ["2036-02-29 23:59:58", "2019-12-31 23:59:58", "2026-03-08 01:58 -05:00"]
)
def test_a_command_may_run_at_another_time_and_its_waits_end(when: str) -> None:
    began = dt.datetime.fromisoformat(when)
    began = began if began.tzinfo else began.replace(tzinfo=dt.UTC)
    machines_own = {
        name: value for name, value in os.environ.items() if name not in preload_variables()
    }
    said = subprocess.run(
        [str(ROOT / ".ci" / "at"), when, sys.executable, "-c", _ASKS],
        env=machines_own,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    now = dt.datetime.fromisoformat(said.strip())
    assert dt.timedelta(0) <= now - began < _MINUTE
