"""The Django app."""

import gc
from typing import Any, Final

from django.apps import AppConfig
from django.core.signals import request_started
from django.db.models.signals import post_migrate

_GARBAGE_AT: Final = 50_000
"""New containers between two looks for garbage cycles. A batch of a thousand makes more than that,
all of them needed until its answer; at Python's own 700 the looks took a third of an accept."""


class NotificationsConfig(AppConfig):
    """Notifications: everything that this project is for."""

    name = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have partitions from the first moment.

        Every migrate, which every deployment runs, makes them.
        """
        post_migrate.connect(_make_partitions, sender=self)
        request_started.connect(_drop_broken_connection)
        gc.freeze()  # what is loaded by now stays: no need to look at it again
        gc.set_threshold(_GARBAGE_AT)


def _make_partitions(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications import clock  # noqa: PLC0415 - the models are ready only now
    from notifications.store import partitions  # noqa: PLC0415 - the models are ready only now

    partitions.ensure(clock.now().date())


def _drop_broken_connection(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications.store import db  # noqa: PLC0415 - the models are ready only now

    db.drop_broken()
