"""[naive_task] [post_office] From the producer's call until the last message is sent.

Both send mails to the same server on the same machine, all processes on the same two cores, and
store each message and its result in the same PostgreSQL. Ours is `pipeline_http`, in batches of a
thousand with idempotency keys. The peers:

    naive_task   what teams write (`tests.benchmarks.naive`), to an HTTP server
    post_office  django-post_office (`tests.benchmarks.post_office`), to an SMTP server
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import Final

import psycopg

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.supervisor.process import ROOT
from tests.benchmarks import costs, pipeline, post_office
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.routes import mails_by
from tests.benchmarks.sink import NoSink
from tests.benchmarks.smtp_sink import SmtpSink
from tests.benchmarks.stage import VAR, Stage

_OURS: Final = 20_000
_THEIRS: Final = 2_000
_WARM: Final = 100
_TARGET: Final = 15.0
_OURS_BY_SMTP: Final = 10_000
_POST_OFFICE: Final = "bench_post_office"
_TABLE: Final = """
    CREATE TABLE IF NOT EXISTS bench_naive (
        id bigserial PRIMARY KEY, address text NOT NULL, variables jsonb NOT NULL,
        status varchar(10) NOT NULL, created_at timestamptz NOT NULL, sent_at timestamptz
    );
    CREATE INDEX IF NOT EXISTS bench_naive_status ON bench_naive (status);
    TRUNCATE bench_naive;
"""


def measure_naive(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    pipeline.rate(stage, costs.Meter(), count=_OURS // 10)
    ours, theirs = costs.Meter(), costs.Meter()
    found = paired(
        ours=lambda: pipeline.rate(stage, ours, count=_OURS), theirs=lambda: _naive(stage, theirs)
    )
    return Figure(
        name="naive_task",
        value=found.ours,
        unit="messages/s",
        baseline="messages/s (a Celery task each, with the ORM and requests)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f">= {_TARGET:.0f}x",
        met=found.ratio >= _TARGET,
        notes=(
            f"ours: {ours.each(PAIRS * _OURS)}",
            f"theirs: {theirs.each(PAIRS * _THEIRS)}",
        ),
    )


def measure_post_office(stage: Stage) -> Figure:
    """Measure it.

    Raises:
        NoSink: django-post_office is not installed.
    """
    if importlib.util.find_spec("post_office") is None:
        raise NoSink(f"The benchmark post_office needs the package {post_office.PACKAGE}")
    stage.run()
    sink = SmtpSink(VAR / "mail", port=stage.mail_port)
    sink.start()
    ours, theirs = costs.Meter(), costs.Meter()
    try:
        with mails_by(stage, "smtp"):
            pipeline.rate(stage, costs.Meter(), count=_OURS // 10)
            found = paired(
                ours=lambda: pipeline.rate(stage, ours, count=_OURS_BY_SMTP),
                theirs=lambda: _post_office(stage, sink, theirs),
            )
    finally:
        sink.stop()
    return Figure(
        name="post_office",
        value=found.ours,
        unit="mails/s by SMTP",
        baseline=f"mails/s ({post_office.PACKAGE}, two processes)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target="report only",
        met=True,
        notes=(
            f"ours: {ours.each(PAIRS * _OURS_BY_SMTP)}",
            f"theirs: {theirs.each(PAIRS * _THEIRS)}",
        ),
    )


def _post_office(stage: Stage, sink: SmtpSink, meter: costs.Meter) -> float:
    """Mails a second of the peer, in a database of its own."""
    with stage.standing_still(), stage.database() as link:
        link.execute(f"DROP DATABASE IF EXISTS {_POST_OFFICE}")
        link.execute(f"CREATE DATABASE {_POST_OFFICE}")
        environ = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "BENCH_DATABASE": f"{_url(link).rpartition('/')[0]}/{_POST_OFFICE}",
            "BENCH_SMTP_PORT": str(sink.port),
        }
        own = os.times()
        with costs.measured(stage.components(), into=meter):
            seconds = _told([sys.executable, "-m", post_office.__name__, str(_THEIRS)], environ)
        ended = os.times()
        spent = ended.children_user + ended.children_system
        meter.add({"its processes": spent - own.children_user - own.children_system})
        link.execute(f"DROP DATABASE {_POST_OFFICE}")
    return _THEIRS / seconds


def _naive(stage: Stage, meter: costs.Meter) -> float:
    """Messages a second of the peer, with a warm worker of two processes."""
    with stage.standing_still(), stage.database() as link:
        link.execute(_TABLE)
        environ = {
            "PATH": "/usr/bin:/bin",
            "C_FORCE_ROOT": "1",
            "BENCH_DATABASE": _url(link),
            "BENCH_BROKER": stage.broker_url,
            "BENCH_SINK": stage.sink.url,
        }
        worker = Child("naive", log=VAR / "log" / "naive.log")
        worker.log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "celery", "-A", "tests.benchmarks.naive", "worker"]
        worker.spawn([*command, "--concurrency=2", "-Q", "naive"], folder=ROOT, environ=environ)
        try:
            _send(_WARM, environ)
            watched = {"worker": worker.pid, **stage.components()}
            parts = {name: pid for name, pid in watched.items() if pid is not None}
            with costs.measured(parts, into=meter):
                seconds = _send(_THEIRS, environ)
        finally:
            worker.stop()
        link.execute("DROP TABLE bench_naive")
    return _THEIRS / seconds


def _send(count: int, environ: dict[str, str]) -> float:
    """Have the producer create and send messages; returns the seconds."""
    return _told([sys.executable, "-m", "tests.benchmarks.naive", str(count)], environ)


def _told(command: list[str], environ: dict[str, str]) -> float:
    """Run a command that prints the seconds."""
    told = subprocess.run(
        command, env=environ, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return float(told.stdout)


def _url(link: psycopg.Connection[tuple[int, ...]]) -> str:
    at = link.info
    return f"postgresql://{at.user}:{at.password}@{at.host}:{at.port}/{at.dbname}"
