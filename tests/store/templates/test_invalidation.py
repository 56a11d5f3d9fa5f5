"""What is published is in force in every process within two seconds, with and without Redis."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.store.redis import state
from notifications.core.store.templates import invalidation, template_cache
from notifyproj.devstack.demo.environment import until
from tests.store.templates import watchers

LIMIT_SECONDS = 60.0


@pytest.fixture
def environ(transactional_db: None) -> Iterator[dict[str, str]]:  # noqa: ARG001 - asked for by name
    """What a process of the product needs to look at the tests' own database."""
    state.client().flushdb()
    found = connection.settings_dict
    url = f"postgresql://{found['USER']}:{found['PASSWORD']}@{found['HOST']}:{found['PORT']}"
    yield {**os.environ, "DATABASE_URL": f"{url}/{found['NAME']}"}
    template_cache.forget()


def test_four_processes_hear_of_a_new_version_at_once(environ: dict[str, str]) -> None:
    an_hour, before = 3600.0, watchers.listeners()
    with watchers.watching(environ, patience=an_hour) as watching:
        until(lambda: watchers.listeners() == before + watchers.PROCESSES, what="all listen")
        for body in ("second", "third"):
            assert watching.seconds_until_last(body) < LIMIT_SECONDS


def test_without_redis_four_processes_believe_the_old_one_for_a_second(
    environ: dict[str, str],
) -> None:
    alone = {**environ, "REDIS_URL": "redis://127.0.0.1:1/0"}
    with watchers.watching(alone, patience=template_cache._FRESH) as watching:
        assert watching.seconds_until_last("second") < LIMIT_SECONDS


@pytest.mark.usefixtures("transactional_db")
def test_a_broken_connection_is_made_anew_and_counts_as_news() -> None:
    heard: list[str] = []
    told = threading.Semaphore(0)

    def hear(name: str) -> None:
        heard.append(name)
        told.release()

    invalidation.InvalidationListener(hear).open()
    assert told.acquire(timeout=10)
    state.client().client_kill_filter(_type="pubsub")
    assert told.acquire(timeout=10)
    invalidation.publish("hello")
    assert told.acquire(timeout=10)
    assert heard[:2] == ["", ""]
    assert "hello" in heard


@pytest.mark.django_db
def test_news_that_come_while_a_version_is_read_are_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watchers.publish("first")
    ours, read = template_cache._TemplateCache(), template_cache._load

    def overtaken(*, names: list[str]) -> list[template_cache.TemplateVersion]:
        found = read(names=names)
        ours._hear(watchers.NAME)
        return found

    monkeypatch.setattr(template_cache, "_load", overtaken)
    monkeypatch.setattr(clock, "monotonic", lambda: 1_000.0)
    ours.by_name([watchers.NAME])
    monkeypatch.setattr(template_cache, "_load", read)
    newer = watchers.publish("second")
    assert ours.by_name([watchers.NAME])[watchers.NAME].id == newer.pk
