"""A commit that waits for a synchronous standby for ever is found, and /readyz says so."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import psycopg
import pytest
from django.test import Client

from notifications.core.store.postgres import time_limit
from notifyproj.devstack.demo.environment import until
from notifyproj.devstack.servers import Stack

pytestmark = pytest.mark.django_db


@pytest.fixture
def standby_gone() -> Iterator[None]:
    """Let the server wait for a synchronous standby that does not exist."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as link:
        link.execute("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
        link.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            link.execute("ALTER SYSTEM RESET synchronous_standby_names")
            link.execute("SELECT pg_reload_conf()")
            link.execute(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            )


def test_a_commit_of_a_healthy_server_ends() -> None:
    assert not time_limit.commit_hangs()


@pytest.mark.usefixtures("standby_gone")
def test_readyz_names_a_commit_that_does_not_end() -> None:
    for _ in range(2):  # the second look meets the commit of the first
        answer = Client().get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["database"].startswith("a commit takes over 2 s: ")


def test_readyz_answers_while_the_server_takes_no_session(stack: Stack) -> None:
    stack.postgres.signal(signal.SIGSTOP)
    try:
        answer = Client().get("/readyz")
    finally:
        stack.postgres.signal(signal.SIGCONT)
    assert answer.status_code == 503
    assert answer.json()["database"].startswith("a commit takes over 2 s: ")
    until(lambda: not time_limit.commit_hangs(), what="the server takes sessions again")
