"""The Celery application; `notifications.core.tasks` has the tasks, `celeryconfig` the settings."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from celery import Celery
from celery.concurrency import get_implementation
from celery.concurrency.thread import TaskPool
from celery.signals import (
    beat_init,
    celeryd_after_setup,
    celeryd_init,
    setup_logging,
    task_prerun,
    worker_ready,
)

from notifications.core.rules.lane import OPS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
# Django's checks load every URL, page and template: 20 MiB that only the web process needs. The
# checks run in the web process and in `migrate`.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

app = Celery("notifyproj")
app.config_from_object("celeryconfig")
app.autodiscover_tasks()


@setup_logging.connect
def _keep_our_logging(**_signal: object) -> None:
    """Stop Celery from replacing the root logger of Django's settings; a receiver suffices."""


@celeryd_init.connect
def _require_threads(conf: Any, options: Mapping[str, Any], **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Refuse to start with another pool than `threads`, or with a variable number of threads.

    Such a worker would deliver until the broker is away: `tasks.direct` submits to the pool from
    a thread of the worker, and divides a fixed number of threads among the lanes.

    Raises:
        SystemExit: with the command to use instead.
    """
    pool = options.get("pool_cls") or options.get("pool") or conf.worker_pool
    if issubclass(get_implementation(pool), TaskPool) and not options.get("autoscale"):
        return
    given = {"queues": ",".join(options.get("queues") or ()), "concurrency": _threads(options)}
    words = [f"--{name}={value}" for name, value in given.items() if value]
    command = shlex.join(["celery", "-A", "notifyproj", "worker", "--pool=threads", *words])
    sys.exit(f"A worker runs its tasks in a fixed number of threads. Start it with: {command}")


def _threads(options: Mapping[str, Any]) -> object:
    most, _ = options.get("autoscale") or (None, None)
    return most or options.get("concurrency")


@task_prerun.connect
def _close_old_connection(**_signal: object) -> None:
    """Close a broken database connection, and one older than CONN_MAX_AGE, before a task.

    Celery keeps a thread's connection over many tasks (CELERY_DB_REUSE_MAX).
    """
    from django.db import close_old_connections  # noqa: PLC0415 - after Django is set up

    from notifications.core.store.postgres import thread_session  # noqa: PLC0415 - as above

    close_old_connections()
    thread_session.drop_broken()


@celeryd_after_setup.connect
def _serve_metrics(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Serve the metrics of a worker, also of a worker that the broker does not let in."""
    from notifications.core.tasks import metrics  # noqa: PLC0415 - after Django is set up

    queues = list(instance.app.amqp.queues.consume_from)
    metrics.serve(concurrency=instance.concurrency, queues=queues)


@beat_init.connect
def _require_scheduler(sender: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Refuse to start with another scheduler, which would not read the periodic tasks in Postgres.

    Raises:
        SystemExit: with the command to use instead.
    """
    from notifyproj.beat import Scheduler  # noqa: PLC0415 - after Django is set up

    if not isinstance(sender.scheduler, Scheduler):
        sys.exit(
            "Beat reads the periodic tasks from Postgres, by the scheduler of celeryconfig.py."
            " Start it with: celery -A notifyproj beat"
        )


@celeryd_after_setup.connect
def _read_flight_recorders(**_signal: object) -> None:
    """Publish the notes that killed workers of this host have left.

    A worker that the broker does not let in delivers as well (`tasks.direct`).
    """
    from notifications.core.store import flight_recorder  # noqa: PLC0415 - after Django is set up
    from notifications.core.store.redis import state  # noqa: PLC0415 - as above

    with contextlib.suppress(state.Away):  # the rescue reads them later
        flight_recorder.reap()


@beat_init.connect
def _serve_metrics_of_beat(**_signal: object) -> None:
    from notifications.core.tasks import metrics  # noqa: PLC0415 - after Django is set up

    metrics.serve()


@celeryd_after_setup.connect
def _watch_clock(instance: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Compare the host's clock with Postgres's; consume no lane while the host's clock is wrong.

    The worker still consumes the queue of the sweeps, because sweeps call no provider and use
    Postgres's clock. A worker that the broker does not let in takes rows from Postgres
    (`tasks.direct`), so the watch begins before the sign-in.
    """
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.store.postgres import host_clock  # noqa: PLC0415 - as above

    names = [name for name in instance.app.amqp.queues.consume_from if name != OPS]

    def turn(consumer: Any) -> None:  # noqa: ANN401 - Celery is untyped
        if consumer.task_consumer is None:  # one that connects later is turned by `worker_ready`
            return
        change = consumer.add_task_queue if clock.is_trusted() else consumer.cancel_task_queue
        for name in names:
            change(name)

    def turn_soon(*_trusted: bool, **_signal: object) -> None:
        consumer = getattr(instance, "consumer", None)
        if consumer is not None:
            consumer.call_soon(turn, consumer)

    worker_ready.connect(turn_soon, weak=False)
    host_clock.Watch(on_change=turn_soon).start()


@beat_init.connect
def _watch_servers_of_beat(**_signal: object) -> None:
    """Say so if beat works without the broker or the state Redis, or beside another beat."""
    from notifications.core.rules.alerts import BEAT  # noqa: PLC0415 - after Django is set up
    from notifications.core.store.postgres import fallbacks  # noqa: PLC0415 - as above

    fallbacks.FallbackWatch(fallbacks.name_of("beat")).start()
    fallbacks.FallbackWatch(BEAT, [fallbacks.BEATS]).start()


@beat_init.connect
def _watch_clock_of_beat(**_signal: object) -> None:
    """Compare the host's clock with Postgres's; a wrong clock raises an alert and stops nothing.

    Beat counts seconds only, so Beat continues with a wrong clock. Beat waits for the first
    comparison, because beat ends if the database does not give the periodic tasks. Until then beat
    answers no `inspect ping`.
    """
    from notifications.core.store.postgres import host_clock  # noqa: PLC0415 - after Django is set up

    host_clock.Watch().start()
    host_clock.wait_compared()
