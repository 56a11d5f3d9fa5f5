"""Loads the product into a supervisor, whose forks are the processes of the product."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from psycopg import pq

CAN_FORK: Final = sys.platform == "linux"
"""Libraries of other systems refuse to work in a fork."""
_MODULES: Final = (
    "billiard.connection",
    "billiard.dummy",
    "billiard.pool",
    "billiard.reduction",
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.contrib.django.task",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.strategy",
    "flower.command",
    "flower.urls",
    "granian.server",
    "kombu.transport.redis",
    "notifications.core.api.request_slots",
    "notifications.core.tasks.consumer",
    "notifications.core.tasks.metrics",
    "notifications.features.inbox.live.service",
    "notifyproj.beat",
    "notifyproj.live",
    "uvicorn.lifespan.off",
)
"""Modules that the programs load beside the tasks: a module that a fork loads is not shared."""
_CONFIGURATION: Final = ("celeryconfig", "notifyproj.settings")
"""Modules that read the environment when they are imported."""
_OFTEN: Final = 60
"""Seconds: sweeps with a longer interval may load large libraries, such as that of Parquet."""


def load(environ: Mapping[str, str], *, further: Iterable[str] = ()) -> None:
    """Load the app with `environ`, which stays this process's environment, and further modules.

    Raises:
        RuntimeError: the configuration was loaded before, with another environment.
    """
    if early := sys.modules.keys() & set(_CONFIGURATION):
        raise RuntimeError(f"loaded before the environment was set: {', '.join(sorted(early))}")
    os.environ.update(environ)
    from notifyproj.celery import app  # noqa: PLC0415 - reads the environment

    app.loader.import_default_modules()
    app.finalize()
    for name in (*_MODULES, *further):
        importlib.import_module(name)
    # A supervisor that forks nothing imports no Django.
    from django.urls import get_resolver  # noqa: PLC0415 - as the comment says

    from notifications.core import feature  # noqa: PLC0415 - as the comment says

    _ = get_resolver().url_patterns  # the views of the web process
    for each in feature.all_features():
        for sweep in each.sweeps:
            if sweep.seconds <= _OFTEN:
                feature.import_function(sweep.run)
    _start_openssl()
    gc.collect()
    gc.freeze()  # a collection in a fork would write to each object


def _start_openssl() -> None:
    """Start the OpenSSL of libpq, which takes 2.5 MiB, by a hash of a password; asks no server."""
    link = pq.PGconn.connect_start(b"host=/nowhere")
    link.encrypt_password(b"", b"", b"scram-sha-256")
    link.finish()
