"""Servers and settings for the whole test run, ready before anything imports Django's settings.

Tests use real servers: the stack `test`, or the servers of DATABASE_URL, REDIS_URL and
CELERY_BROKER_URL. The stack has its own data and ports, so a demo may run beside the tests;
TEST_STACK=name gives a second run in the same checkout its own stack. Postgres runs without fsync:
a crash of the machine may lose the rows of a test. Postgres analyzes no table by itself, because
the transaction of an ANALYZE holds the change feed back.

`make test` runs three processes of pytest-xdist, each with its own stack. xdist's controller runs
no test and starts no server.
"""

from __future__ import annotations

import datetime as dt
import functools
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Final

import django
import pytest
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker
from xdist.remote import Producer

from notifyproj.devstack.servers import EmbeddedError, Stack
from notifyproj.setting_names import PREFIX
from tests import captured_lines, clock, examples, slow_tests, static_files

_CHANNELS: Final = ("push", "sms", "email", "in_app", "webhook", "chat")
_SETTINGS: Final = {
    "DJANGO_SETTINGS_MODULE": "notifyproj.settings",
    "NOTIFY_SECRET_KEY": "a-key-for-tests-that-signs-nothing-of-worth",
    "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
    "NOTIFY_PUBLIC_URL": "http://testserver",
    "NOTIFY_ALLOWED_HOSTS": "127.0.0.1,localhost",
    "NOTIFY_ROUTES": ",".join(f"{channel}=sandbox" for channel in _CHANNELS),
    "NOTIFY_BULK_JOB_PER_HOUR": "0",  # audiences of tests leave at once
    "NOTIFY_CAPS": "none",  # a test's one person gets what else a hundred would
    "NOTIFY_SANDBOX_URL": "http://127.0.0.1:1",  # nobody listens there: a test starts its own
    "NOTIFY_SANDBOX_SECRET": "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM=",
}
_POSTGRES: Final = {"fsync": "off", "autovacuum_analyze_threshold": "2147483647"}
_UNREACHABLE: Final = {
    "DATABASE_URL": "postgresql://none@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "CELERY_BROKER_URL": "redis://127.0.0.1:2/0",
}
"""Servers of xdist's controller, which imports Django's models but runs no test."""
_IS_CONTROLLER: Final = (
    int(os.environ.get("TEST_PROCESSES", "0")) > 0 and "PYTEST_XDIST_WORKER" not in os.environ
)


def _set_up() -> Stack:
    """Start the servers, set the environment and set Django up; the controller starts no server."""
    stack = clock.stack(os.environ.get("TEST_STACK", "test"), postgres_settings=_POSTGRES)
    given = dict(os.environ)
    try:
        urls = _UNREACHABLE if _IS_CONTROLLER else stack.start()
    except EmbeddedError as error:
        pytest.exit(str(error), returncode=1)
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        del os.environ[name]
    os.environ.update(_SETTINGS, **urls)
    django.setup()
    from tests import redis_clients  # noqa: PLC0415 - after Django is set up

    redis_clients.lengthen_timeouts()
    captured_lines.keep()
    static_files.read_once()
    if _IS_CONTROLLER:  # the processes that it starts inherit its environment
        os.environ.clear()
        os.environ.update(given)
    return stack


# Examples have no deadline and may take long to draw, because the machine may be busy.
settings.register_profile(
    "busy", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# Of `make test`, for each change; `make test-all` draws 100 examples.
settings.register_profile("brief", settings.get_profile("busy"), max_examples=examples.BRIEF)
settings.load_profile("busy")
_STACK: Final = _set_up()
gc.disable()  # the modules and items of a collection stay to the end of the run


def pytest_collection_finish() -> None:
    """Let the garbage collection begin, without what was made so far."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    _STACK.stop()
    captured_lines.discard_the_rest(config)


@pytest.fixture(scope="session")
def stack() -> Stack:
    """The servers under all tests. A test that stops or kills one starts it again."""
    return _STACK


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """The URL of a real sandbox server.

    Here alone: pytest makes a fixture anew for each module that imports it, so each of them would
    start a server.
    """
    from tests.providers.fakes import free_port  # noqa: PLC0415 - after Django is set up

    port = str(free_port())
    command = [sys.executable, "-m", "providers.sandbox_server", "--port", port]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert b"listening" in server.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:  # noqa: ARG001 - pytest-django's own fixture goes first
    """Restore the rows of `migrate` after each test with a commit."""
    from django.test import TransactionTestCase  # noqa: PLC0415 - after Django is set up

    from tests import seed_rows  # noqa: PLC0415 - after Django is set up

    with django_db_blocker.unblock():
        seed_rows.keep()
    TransactionTestCase._fixture_teardown = seed_rows.restore  # type: ignore[attr-defined] # Django has no public hook


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> slow_tests.Scheduling:
    return slow_tests.Scheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the slow tests before `-m` is applied, and leave out those of other days of CI."""
    slow_tests.mark(items)
    if third := os.environ.get("TEST_SLOW_THIRD"):
        config.hook.pytest_deselected(items=slow_tests.leave_out(items, third=int(third)))


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def pytest_order_tests(items: list[pytest.Item]) -> None:
    """Order the tests after pytest-django, which puts those with a database first."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        slow_tests.slow_first(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Wait for the thread that sends alerts, which a look at /readyz can start."""
    try:
        return (yield)
    finally:
        for thread in threading.enumerate():
            if thread.name == "alert_notices":
                thread.join(10)


@pytest.fixture(autouse=True)
def _own_lines() -> Iterator[None]:
    """Have each test's log lines written before the report of the test is made."""
    yield
    from notifications.core import telemetry  # noqa: PLC0415 - after Django is set up

    telemetry.STDERR.drain(1.0)


@pytest.fixture
def log_output(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Return a function that returns the log lines which the test has caused so far."""
    with captured_lines.into(tmp_path / "log") as read:
        yield read


@pytest.fixture(autouse=True)
def _no_cached_row_of_another_test() -> None:
    """Empty the process's caches of small tables: the rows of the test before are rolled back."""
    for cache in _caches(len(sys.modules)):
        cache.forget()


@pytest.fixture(autouse=True)
def _no_failure_of_another_test() -> None:
    """Call the state Redis again: a test with its own monotonic clock may never pass the pause."""
    from notifications.core.store.redis import state  # noqa: PLC0415 - after Django is set up

    state._circuit.rests_until = 0.0


@functools.lru_cache(maxsize=1)
def _caches(_modules: int) -> list[Any]:
    """Return the caches of all modules; a search takes a millisecond."""
    from notifications.core.store.cached.ttl_cache import Fresh  # noqa: PLC0415 - after Django is set up

    return [
        value
        for name, module in list(sys.modules.items())
        if name.startswith(("notifications.core.store.", "notifications.features."))
        for value in vars(module).values()
        if isinstance(value, Fresh)
    ]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[dt.timedelta], None]:
    """Return a function that moves the steady clock of this process on."""
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up

    true, passed = clock.steady, dt.timedelta(0)

    def let_pass(time: dt.timedelta) -> None:
        nonlocal passed
        passed += time
        monkeypatch.setattr(clock, "steady", lambda: true() + passed.total_seconds())

    return let_pass


@pytest.fixture
def whole_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read every page of sampled tables: earlier tests leave pages of dead rows."""
    from notifications.core.figures import reach  # noqa: PLC0415 - needs Django set up
    from notifications.core.store.postgres import backlog  # noqa: PLC0415 - needs Django set up

    monkeypatch.setattr(reach, "count", functools.partial(reach.count, pages=10**9))
    monkeypatch.setattr(backlog, "_SAMPLED_PAGES", 10**9)
