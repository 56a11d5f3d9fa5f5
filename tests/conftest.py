"""Servers and settings for the whole test run, ready before anything imports Django's settings.

Every test that talks to a database or to Valkey talks to a real one: the stack `test`, or what
DATABASE_URL, REDIS_URL and CELERY_BROKER_URL name. It has its own data and ports, so a demo may run
beside it; TEST_STACK=name gives a second run in the same checkout servers of its own. Postgres runs
without fsync: a crash of the machine may lose a test's rows, which nobody would miss.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import django
import pytest
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from notifyproj.devstack.servers import EmbeddedError, Stack
from notifyproj.environment import PREFIX
from tests import clock

_CHANNELS: Final = ("push", "sms", "email", "in_app", "webhook", "chat")
_SETTINGS: Final = {
    "DJANGO_SETTINGS_MODULE": "notifyproj.settings",
    "NOTIFY_SECRET_KEY": "a-key-for-tests-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    "NOTIFY_PUBLIC_URL": "http://testserver",
    "NOTIFY_ALLOWED_HOSTS": "127.0.0.1,localhost",
    "NOTIFY_ROUTES": ",".join(f"{channel}=sandbox" for channel in _CHANNELS),
    "NOTIFY_CAPS": "none",  # a test's one person gets what else a hundred would
    "NOTIFY_SANDBOX_URL": "http://127.0.0.1:1",  # nobody listens there: a test starts its own
    "NOTIFY_SANDBOX_SECRET": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
}


def _start() -> Stack:
    """Start the servers and put all settings into the environment, free of the caller's own."""
    stack = clock.stack(os.environ.get("TEST_STACK", "test"), postgres_settings={"fsync": "off"})
    try:
        urls = stack.start()
    except EmbeddedError as error:
        pytest.exit(str(error), returncode=1)
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        del os.environ[name]
    os.environ.update(_SETTINGS, **urls)
    return stack


# A busy machine is no fault: examples have no deadline, and may take long to draw.
settings.register_profile(
    "busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")
_STACK: Final = _start()
django.setup()


def pytest_unconfigure() -> None:
    _STACK.stop()


@pytest.fixture(scope="session")
def stack() -> Stack:
    """The servers under all tests. A test that stops or kills one starts it again."""
    return _STACK


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:  # noqa: ARG001 - pytest-django's own fixture goes first
    """Let tests that commit empty the audit log; its own tests switch the trigger on again."""
    from django.db import connection  # noqa: PLC0415 - after Django is set up

    with django_db_blocker.unblock(), connection.cursor() as running:
        running.execute("ALTER TABLE notifications_auditentry DISABLE TRIGGER audit_is_not_emptied")


@pytest.fixture(autouse=True)
def _own_lines() -> Iterator[None]:
    """Have each test's log lines written while pytest still captures them."""
    yield
    from notifications import telemetry  # noqa: PLC0415 - after Django is set up

    telemetry.STDERR.drain(1.0)
