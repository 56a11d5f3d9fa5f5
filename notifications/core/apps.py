"""The Django app's configuration and signal handlers."""

import gc
from collections.abc import Sequence
from typing import Any, Final

import structlog
from django.apps import AppConfig
from django.core import checks
from django.core.signals import request_started
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string

from notifications.core import feature, gate
from notifications.core.rules import access

_log: Final = structlog.get_logger(__name__)
_GARBAGE_AT: Final = 10_000
"""Threshold of Python's garbage collector, in new container objects. A wave of deliveries creates
thousands and needs them until it is settled. With a higher threshold a process that does little
keeps garbage for hours. The web process has a threshold of its own (`notifyproj.wsgi`)."""


class NotificationsConfig(AppConfig):
    """Connects the app's signal handlers and checks."""

    name = "notifications.core"
    label = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the handlers that create database objects after each `migrate`.

        The handlers create missing partitions, periodic tasks, role groups and session settings,
        delete the periodic tasks of earlier releases, resolve the alerts of removed features, and
        record the release. Every deployment runs `migrate`. Connect the checks, and the
        declarations of operations.
        """
        post_migrate.connect(_store_session_settings, sender=self)
        post_migrate.connect(_make_partitions, sender=self)
        post_migrate.connect(_make_periodic_tasks, sender=self)
        post_migrate.connect(_keep_roles, sender=self)
        post_migrate.connect(_resolve_removed_alerts, sender=self)
        post_migrate.connect(_record_deploy, sender=self)
        access.complete_with(_import_operations)
        checks.register(feature.missing_needs)
        checks.register(gate.wrong_places)
        checks.register(_check_first_migration, checks.Tags.database)
        checks.register(_check_session_settings, checks.Tags.database)
        checks.register(_check_servers, checks.Tags.security, deploy=True)
        checks.register(_check_kept_roles, checks.Tags.database)
        _log_weak_servers()
        request_started.connect(_drop_broken_connection)
        gc.freeze()  # loaded modules stay for ever, so exclude them from garbage collection
        gc.set_threshold(_GARBAGE_AT)


def _import_operations() -> None:
    import notifications.core.api.urls  # noqa: F401, PLC0415 - workers never need DRF


def _store_session_settings(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications.core.store.postgres import session_settings  # noqa: PLC0415 - the models are ready only now

    session_settings.store()


def _check_servers(**others: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - Django's protocol
    from notifications.core import deploy_checks  # noqa: PLC0415 - the models are ready only now

    return deploy_checks.check_servers(**others)


def _check_kept_roles(**others: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - Django's protocol
    from notifications.core import deploy_checks  # noqa: PLC0415 - the models are ready only now

    return deploy_checks.check_kept_roles(**others)


def _log_weak_servers() -> None:
    from notifications.core import deploy_checks  # noqa: PLC0415 - the models are ready only now

    for variable, weakness in deploy_checks.weak_servers():
        _log.warning("server_not_verified", variable=variable, weakness=weakness)


def _check_session_settings(
    databases: Sequence[str] | None = None,
    **_others: Any,  # noqa: ANN401 - Django's protocol
) -> list[checks.CheckMessage]:
    from django.db import Error  # noqa: PLC0415 - the models are ready only now

    from notifications.core.store.postgres import session_settings  # noqa: PLC0415 - the models are ready only now

    try:
        found = session_settings.missing() if databases else {}
    except Error:
        return []  # another check reports an unreachable database
    return [
        checks.Warning(
            f"the database session has {name}={value}, not {session_settings.WANTED[name]}",
            hint="run `manage.py migrate` as the role that the processes use, or"
            " docs/compose/roles.sql, which sets them for notify_app",
            id="notifications.W001",
        )
        for name, value in found.items()
    ]


def _check_first_migration(
    databases: Sequence[str] | None = None,
    **_others: Any,  # noqa: ANN401 - Django's protocol
) -> list[checks.CheckMessage]:
    """Refuse tables of another first migration; `migrate` runs the check before any change."""
    from django.db import Error, connection  # noqa: PLC0415 - the models are ready only now

    from notifications.core.store.postgres import unapplied_migrations  # noqa: PLC0415 - the models are ready only now

    try:
        is_another = bool(databases) and unapplied_migrations.has_another_first()
    except Error:
        return []  # another check reports an unreachable database
    if not is_another:
        return []
    name = connection.settings_dict["NAME"]
    return [
        checks.Error(
            f"the tables of the database {name} are of another version before 1.0, without"
            f" {unapplied_migrations.FIRST}; this version cannot upgrade them and has changed"
            " nothing",
            hint=f"run the version that made the tables, or give up the database's rows:"
            f" `dropdb {name} && createdb {name}`, then `manage.py migrate`",
            id="notifications.E001",
        )
    ]


def _make_partitions(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications.core import clock  # noqa: PLC0415 - the models are ready only now
    from notifications.core.store.postgres import partitions  # noqa: PLC0415 - the models are ready only now

    partitions.ensure(clock.now().date())


def _drop_broken_connection(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications.core.store.postgres import thread_session  # noqa: PLC0415 - the models are ready only now

    thread_session.drop_broken()


def _keep_roles(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications.core.store.postgres import role_groups  # noqa: PLC0415 - the models are ready only now

    role_groups.keep()


def _resolve_removed_alerts(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from notifications.core import sweeps  # noqa: PLC0415 - the models are ready only now
    from notifications.core.rules import alert_links  # noqa: PLC0415 - as above
    from notifications.core.store.postgres import alerts  # noqa: PLC0415 - as above

    alerts.resolve_removed(kinds=alert_links.kinds(), sweeps=sweeps.SWEEPS)


def _record_deploy(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from django.db import transaction  # noqa: PLC0415 - the models are ready only now

    from notifications.core import conf  # noqa: PLC0415 - the models are ready only now
    from notifications.core.store.postgres import plot_annotations  # noqa: PLC0415 - the models are ready only now

    with transaction.atomic():
        plot_annotations.record_deploy(conf.current().release)


def _make_periodic_tasks(**_signal: Any) -> None:  # noqa: ANN401 - Django's protocol
    from django.conf import settings  # noqa: PLC0415 - as below

    from notifications.core import sweeps  # noqa: PLC0415 - the models are ready only now
    from notifications.core.store.postgres import periodic_tasks, sweep_runs  # noqa: PLC0415 - as above

    app = import_string(settings.CELERY_APP)
    app.loader.import_default_modules()  # also the modules of tasks that a team has added
    sweeps.create_periodic_tasks()
    periodic_tasks.delete_unknown(app.tasks)
    sweep_runs.delete_unknown(sweeps.SWEEPS)
