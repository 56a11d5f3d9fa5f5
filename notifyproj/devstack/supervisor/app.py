"""Loads the product into the supervisor, whose forks are the processes of the product."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Mapping
from typing import Final

CAN_FORK: Final = sys.platform == "linux"
"""Libraries of other systems refuse to work in a fork."""
_MODULES: Final = (
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.contrib.django.task",
    "celery.worker.components",
    "celery.worker.strategy",
    "granian.server",
    "kombu.transport.redis",
    "notifications.core.api.request_slots",
    "notifications.core.tasks.consumer",
    "notifications.core.tasks.metrics",
    "notifyproj.beat",
    "notifyproj.live",
)
"""Modules that the programs load beside the tasks."""
_CONFIGURATION: Final = ("celeryconfig", "notifyproj.settings")
"""Modules that read the environment when they are imported."""


def load(environ: Mapping[str, str]) -> None:
    """Load the app with `environ`, which stays this process's environment.

    Raises:
        RuntimeError: the configuration was loaded before, with another environment.
    """
    if early := sys.modules.keys() & set(_CONFIGURATION):
        raise RuntimeError(f"loaded before the environment was set: {', '.join(sorted(early))}")
    os.environ.update(environ)
    from notifyproj.celery import app  # noqa: PLC0415 - reads the environment

    app.loader.import_default_modules()
    for name in _MODULES:
        importlib.import_module(name)
    from django.urls import get_resolver  # noqa: PLC0415 - needs Django

    _ = get_resolver().url_patterns  # the views of the web process
    gc.collect()
    gc.freeze()  # a collection in a fork would write to each object
