"""The Celery application, configured by `celeryconfig`; its tasks are in `notifications.tasks`."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging, task_prerun, worker_ready

from celeryconfig import OPS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
# Django's checks load every URL, page and template: 20 MiB that only the web process needs. The
# checks run in the web process and in `migrate`.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

app = Celery("notifyproj")
app.config_from_object("celeryconfig")
app.autodiscover_tasks(["notifications"])


@setup_logging.connect
def _keep_our_logging(**_signal: object) -> None:
    """Stop Celery from replacing the root logger of Django's settings; a receiver suffices."""


@task_prerun.connect
def _drop_broken_connection(**_signal: object) -> None:
    """Close a broken database connection before a task's first statement would fail.

    Celery keeps a thread's connection over many tasks (`db_reuse_max`).
    """
    from notifications.store.postgres import db  # noqa: PLC0415 - after Django is set up

    db.drop_broken()


@worker_ready.connect
def _serve_metrics(sender: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Serve the metrics of a worker."""
    from notifications.tasks import metrics  # noqa: PLC0415 - after Django is set up

    metrics.serve(concurrency=sender.controller.concurrency)


@beat_init.connect
def _serve_metrics_of_beat(**_signal: object) -> None:
    """Serve the metrics of beat."""
    from notifications.tasks import metrics  # noqa: PLC0415 - after Django is set up

    metrics.serve()


@worker_ready.connect
def _watch_clock(sender: Any, **_signal: object) -> None:  # noqa: ANN401 - Celery is untyped
    """Compare the host's clock with Postgres's; consume no lane while the host's clock is wrong.

    The worker still consumes the queue of the sweeps, because sweeps call no provider and use
    Postgres's clock.
    """
    from notifications.store.postgres import host_clock  # noqa: PLC0415 - after Django is set up

    names = [name for name in sender.app.amqp.queues.consume_from if name != OPS]

    def turn(trusted: bool) -> None:  # noqa: FBT001 - the watch's protocol
        for name in names:
            sender.call_soon(sender.add_task_queue if trusted else sender.cancel_task_queue, name)

    host_clock.Watch(on_change=turn).start()


@beat_init.connect
def _watch_clock_of_beat(**_signal: object) -> None:
    """Compare the host's clock with Postgres's; a wrong clock raises an alert and stops nothing.

    Beat counts seconds only, so Beat continues with a wrong clock.
    """
    from notifications.store.postgres import host_clock  # noqa: PLC0415 - after Django is set up

    host_clock.Watch().start()
