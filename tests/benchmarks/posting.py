"""A baseline: a Celery task that posts one signed webhook with requests and stores the result."""

from __future__ import annotations

import json
import os
import sys
import time
from threading import Event
from typing import Any, Final

import psycopg
import redis
import requests
from celery import Celery

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.demo import environment
from notifyproj.devstack.supervisor.process import ROOT
from providers import standard_webhooks
from tests.benchmarks.stage import VAR, Stage

_QUEUE: Final = "posting"
_MESSAGES: Final = 2_000
_START_SECONDS: Final = 60.0
_SECRET: Final = standard_webhooks.Secret.parse("whsec_YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtMzI=")
_pause: Final = Event()
_TABLE: Final = "CREATE TABLE IF NOT EXISTS bench_posting (id int PRIMARY KEY, status int)"

app = Celery("posting", broker="", broker_read_url=None)
app.conf.task_default_queue = _QUEUE


@app.task(name="posting.post")  # type: ignore[untyped-decorator] # Celery has no types
def post(number: int, url: str) -> None:
    """Post one message and store the status."""
    body = json.dumps({"type": "notification.delivered", "data": {"number": number}}).encode()
    headers = standard_webhooks.sign(
        body, message_id=f"msg_{number}", at=environment.now(), secrets=[_SECRET]
    )
    reply = requests.post(url, data=body, headers=headers, timeout=10)
    with psycopg.connect(os.environ["BENCH_DATABASE"]) as link:
        link.execute(
            "UPDATE bench_posting SET status = %s WHERE id = %s", [reply.status_code, number]
        )


def rate(stage: Stage) -> float:
    """Return the messages posted and stored in a second by one warm worker."""
    with stage.standing_still(), stage.database() as link:
        link.execute(_TABLE)
        link.execute("TRUNCATE bench_posting")
        link.execute("INSERT INTO bench_posting SELECT generate_series(1, %s)", [_MESSAGES])
        link.commit()
        app.conf.broker_url = stage.broker_url
        for number in range(1, _MESSAGES + 1):
            post.apply_async((number, stage.sink.url))
        worker = Child("posting", log=VAR / "log" / "posting.log")
        worker.log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "celery", "-A", "tests.benchmarks.posting", "-b"]
        command += [stage.broker_url, "worker", "--concurrency=2", "-Q", _QUEUE]
        environ = {"PATH": "/usr/bin:/bin", "C_FORCE_ROOT": "1", "BENCH_DATABASE": _url(link)}
        worker.spawn(command, folder=ROOT, environ=environ)
        try:
            return _watch(stage, link)
        finally:
            worker.stop()


def _watch(stage: Stage, link: psycopg.Connection[Any]) -> float:
    """Return the messages in a second from the first tenth until the last one."""
    warm_at, first = 0.0, 0
    deadline = time.monotonic() + _START_SECONDS
    while True:
        [(stored,)] = link.execute("SELECT count(status) FROM bench_posting").fetchall()
        link.commit()
        if not warm_at and stored > _MESSAGES / 10:
            warm_at, first = time.perf_counter(), stored
        if stored == _MESSAGES:
            return float(stored - first) / (time.perf_counter() - warm_at)
        if time.monotonic() > deadline:
            with redis.Redis.from_url(stage.broker_url) as broker:
                broker.delete(_QUEUE)
            raise TimeoutError(f"the baseline's worker posted {stored} of {_MESSAGES} messages")
        _pause.wait(0.02)


def _url(link: psycopg.Connection[Any]) -> str:
    info = link.info
    return psycopg.conninfo.make_conninfo(
        host=info.host, port=info.port, dbname=info.dbname, user=info.user, password=info.password
    )
