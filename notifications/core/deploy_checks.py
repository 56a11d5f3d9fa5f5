"""Checks of a deployment: connections that do not verify their server, and roles of accounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.core import checks
from django.db import DEFAULT_DB_ALIAS, Error, connections
from psycopg.pq import Conninfo

from notifications.core import conf, feature, server_tls
from notifications.core.rules.roles import GROUP_PREFIX
from notifications.core.store.postgres import replica

_VERIFIES: Final = "verify-full"
DATABASES: Final = {DEFAULT_DB_ALIAS: "DATABASE_URL", replica.ALIAS: "DATABASE_REPLICA_URL"}
"""Alias in `DATABASES` -> variable of the URL."""
_LOCAL: Final = ("/", "@", "127.")
"""Beginnings of the hosts of a PostgreSQL on the same machine; the first two are sockets."""


def weak_servers() -> Iterator[tuple[str, str]]:
    """Yield the variable and the words of each Redis, Valkey or RabbitMQ with a weaker check."""
    settings = conf.current()
    for name, url in (
        ("REDIS_URL", settings.state_url),
        ("CELERY_BROKER_URL", settings.broker_url),
    ):
        if weakness := server_tls.weakness(url):
            yield name, weakness


def check_servers(**_others: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - Django's protocol
    """Return a warning for each server whose certificate or host name is not verified."""
    found: list[checks.CheckMessage] = [
        checks.Warning(
            f"the server of {name} {weakness}",
            hint=f"remove the parameter; {server_tls.CA}=/path/ca.pem trusts a private authority",
            id="notifications.W002",
        )
        for name, weakness in weak_servers()
    ]
    found += [
        checks.Warning(
            f"the connection to the host of {variable} does not verify the server",
            hint=f"add sslmode={_VERIFIES} to the URL, and sslrootcert=/path/ca.pem for a"
            " private authority or sslrootcert=system for a public one",
            id="notifications.W003",
        )
        for alias, variable in DATABASES.items()
        if alias in connections and not _verifies_database(connections[alias].settings_dict)
    ]
    return found


def check_kept_roles(
    databases: Sequence[str] | None = None,
    **_others: Any,  # noqa: ANN401 - Django's protocol
) -> list[checks.CheckMessage]:
    """Warn of accounts with the roles of their last single sign-on, without the app of it."""
    if not databases or any(each.sign_in_urls for each in feature.all_features()):
        return []
    linked = User.objects.filter(
        identities__isnull=False, is_active=True, groups__name__startswith=GROUP_PREFIX
    ).exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    try:
        names = sorted(set(linked.values_list("username", flat=True)))
    except Error:
        return []  # another check reports an unreachable database
    said = f"accounts keep the roles of their last single sign-on: {', '.join(names)}"
    hint = "review the groups of each account under Users; no identity provider removes them now"
    return [checks.Warning(said, hint=hint, id="notifications.W004")] if names else []


def _verifies_database(settings: dict[str, Any]) -> bool:
    options = settings["OPTIONS"]
    hosts = str(settings["HOST"] or options.get("hostaddr", "")).split(",")
    if all(host in {"", "localhost", "::1"} or host.startswith(_LOCAL) for host in hosts):
        return True
    [mode_of_process] = [each.val for each in Conninfo.get_defaults() if each.keyword == b"sslmode"]
    default = (mode_of_process or b"").decode()  # of PGSSLMODE
    return bool(options.get("sslmode", default) == _VERIFIES)
