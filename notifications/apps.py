"""The Django app."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class NotificationsConfig(AppConfig):
    """Notifications: everything that this project is for."""

    name = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Have partitions from the first moment.

        Every migrate, which every deployment runs, makes them.
        """
        post_migrate.connect(_make_partitions, sender=self)


def _make_partitions(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications import clock  # noqa: PLC0415 - the models are ready only now
    from notifications.store import partitions  # noqa: PLC0415

    partitions.ensure(clock.now().date())
