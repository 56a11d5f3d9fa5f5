"""The Celery application, configured by `celeryconfig`; its tasks are in `notifications.tasks`."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging, task_prerun

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
# Django's checks load every URL, page and template: 20 MiB that only the web process needs. They
# run there and in `migrate`.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

app = Celery("notifyproj")
app.config_from_object("celeryconfig")
app.autodiscover_tasks(["notifications"])


@setup_logging.connect
def _keep_our_logging(**_signal: object) -> None:
    """Connected, so that Celery leaves the root logger as Django's settings made it."""


@task_prerun.connect
def _drop_broken_connections(**_signal: object) -> None:
    """Celery keeps a thread's connection over many tasks (`db_reuse_max`).

    One that broke must not stay.
    """
    from django.db import close_old_connections  # noqa: PLC0415 - after Django is set up

    close_old_connections()
