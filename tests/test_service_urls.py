"""A password may have any character that a variable can hold, at the real servers."""

from __future__ import annotations

import secrets
import string
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from kombu import Connection
from psycopg import sql

from notifyproj import environment, postgres_url, service_urls
from notifyproj.devstack.servers import Stack
from notifyproj.devstack.servers.rabbitmq import RabbitMQ
from tests.brokers import rabbitmq_only

_PASSWORD = f"  {string.printable.strip()}%41%zz'\"é€𝄞\t "
"""Every printable ASCII character, others, what looks encoded, and spaces at both ends."""
_USER = "odd"


def _url(name: str, url: str) -> str:
    """Return the URL of a process with the password in its own variable."""
    parts = urlsplit(url)
    bare = parts._replace(netloc=f"{_USER}@{parts.hostname}:{parts.port}").geturl()
    return service_urls.service_url(
        {name: bare, service_urls.PASSWORDS[name]: f"{_PASSWORD}\n"}, name
    )


@contextmanager
def _role(url: str) -> Iterator[None]:
    role = sql.Identifier(_USER)
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(_PASSWORD))
        )
        try:
            yield
        finally:
            link.execute(sql.SQL("DROP ROLE {}").format(role))


def test_postgres_takes_a_password_of_any_characters(stack: Stack) -> None:
    url = postgres_url.validate(_url("DATABASE_URL", stack.postgres.url))
    found = postgres_url.settings_of(url)
    with (
        _role(stack.postgres.url),
        psycopg.connect(
            host=found["HOST"],
            port=found["PORT"],
            dbname=found["NAME"],
            user=found["USER"],
            password=found["PASSWORD"],
        ) as link,
    ):
        assert link.info.user == _USER


def test_valkey_takes_a_password_of_any_characters(stack: Stack) -> None:
    with redis.Redis.from_url(stack.state.url) as owner:
        owner.acl_setuser(_USER, enabled=True, passwords=[f"+{_PASSWORD}"], categories=["+@all"])
        try:
            url = _url("REDIS_URL", stack.state.url)
            with redis.Redis.from_url(url) as client:
                assert client.acl_whoami() in {_USER, _USER.encode()}
            # kombu reads the URL of a broker, too
            assert Connection(url).password == _PASSWORD
        finally:
            owner.acl_deluser(_USER)


@rabbitmq_only
def test_rabbitmq_takes_a_password_of_any_characters(stack: Stack) -> None:
    broker = stack.broker
    assert isinstance(broker, RabbitMQ)
    broker.ctl("add_user", _USER, _PASSWORD)
    broker.ctl("set_permissions", "-p", "/", _USER, ".*", ".*", ".*")
    try:
        with closing(Connection(_url("CELERY_BROKER_URL", broker.url))) as link:
            link.connect()
    finally:
        broker.ctl("delete_user", _USER)


@pytest.mark.parametrize("name", ["REDIS_URL", "CELERY_BROKER_URL", "DATABASE_URL"])
def test_a_password_that_is_cut_in_its_url_is_told_without_its_parts(name: str) -> None:
    scheme = "postgresql" if name == "DATABASE_URL" else "redis"
    for cut in "/?#":
        if scheme == "postgresql" and cut != "/":
            continue  # libpq reads the others as the password
        word = secrets.token_hex(4)
        said = _refusal(name, f"{scheme}://user:{word}{cut}{word}@host/1")
        assert f"{name} has /, ? or # in the password: write %2F, %3F or %23" in said
        assert word not in said
    word = secrets.token_hex(4)
    if scheme == "postgresql":
        said = _refusal(name, f"{scheme}://user:{word}@{word}@host/1")
        assert "has @ in the password: write %40" in said
        assert word not in said


def _refusal(name: str, url: str) -> str:
    with pytest.raises(environment.InvalidEnvironment) as refused:
        environment.load({name: url})
    return str(refused.value)
