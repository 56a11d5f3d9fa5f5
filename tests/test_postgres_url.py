"""DATABASE_URL takes each form of libpq, with hosts that take turns, and says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db.backends.postgresql.base import DatabaseWrapper

from notifyproj import environment, postgres_url, service_urls
from notifyproj.environment import InvalidEnvironment
from tests.providers.fakes import free_port

_PASSWORD = "p@ss/w:rd#1%25"


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("postgresql://app@db/notify", "db", ""),
        ("postgres://app@db:5433/notify", "db", "5433"),
        ("postgresql://app@[::1]:5432/notify", "::1", "5432"),
        ("postgresql://app@db1:5432,db2:5433/notify", "db1,db2", "5432,5433"),
        ("postgresql://app@db1,db2/notify?port=5433", "db1,db2", "5433"),
        ("postgresql://app@/notify?host=db1,db2", "db1,db2", ""),
        ("postgresql:///notify?host=db1,db2&user=app", "db1,db2", ""),
    ],
)
def test_each_form_of_libpq_is_read_with_the_password_of_its_variable(
    url: str, host: str, port: str
) -> None:
    whole = service_urls.service_url(
        {"DATABASE_URL": url, "DATABASE_PASSWORD": _PASSWORD}, "DATABASE_URL"
    )
    found = postgres_url.settings_of(postgres_url.validate(whole))
    assert (found["USER"], found["PASSWORD"], found["NAME"]) == ("app", _PASSWORD, "notify")
    assert (found["HOST"], found["PORT"]) == (host, port)
    attrs = "read-write" if "," in host else None
    assert found["OPTIONS"].get("target_session_attrs") == attrs


def test_parameters_of_tls_reach_libpq() -> None:
    url = "postgresql://app@db/notify?sslmode=verify-full&sslrootcert=/etc/notify/ca.pem"
    found = postgres_url.settings_of(url)["OPTIONS"]
    assert found.items() >= {"sslmode": "verify-full", "sslrootcert": "/etc/notify/ca.pem"}.items()


def test_parameters_of_the_url_replace_the_timeouts_of_the_product() -> None:
    url = "postgresql://app@db/notify?tcp_user_timeout=60000&connect_timeout=9"
    found = postgres_url.settings_of(url)["OPTIONS"]
    assert (found["tcp_user_timeout"], found["connect_timeout"]) == ("60000", "9")
    assert found["keepalives_idle"] == 3


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://app@db/notify", "must begin with postgresql:// or postgres://"),
        ("postgresql:///notify", "has no host"),
        ("postgresql://app@db1,/notify", "has no host"),
        ("postgresql://app@db", "names no database; end the URL with /notify"),
        ("postgresql://app@db/notify?sslmode=hidden", "has an unknown sslmode; write one of"),
        ("postgresql://app@db/notify?sslrootcert=/hidden", "has an sslrootcert that this process"),
        ("postgresql://app@db:abc/notify", "has an invalid port"),
        ("postgresql://app@db:99999/notify", "has an invalid port"),
        ("postgresql://app@db1,db2,db3/notify?port=1,2", "has 3 hosts and 2 ports"),
        ("postgresql://app:hidden%zz@db/notify", "is no URL that libpq reads"),
        ("postgresql://app:hidden@db/notify?sslmod=require", "check the names of the parameters"),
        ("postgresql://db1,db2/notify?target_session_attrs=any", "use read-write"),
        ("postgresql://db1,db2/notify?target_session_attrs=standby", "use read-write"),
    ],
)
def test_a_url_that_cannot_work_is_told_without_its_password(url: str, said: str) -> None:
    with pytest.raises(InvalidEnvironment) as refused:
        environment.load({**os.environ, "DATABASE_URL": url, "DATABASE_PASSWORD": ""})
    [line] = str(refused.value).splitlines()
    assert line.startswith("DATABASE_URL ")
    assert said in line
    assert "hidden" not in line


def test_a_session_is_opened_to_the_host_that_answers() -> None:
    parts = urlsplit(os.environ["DATABASE_URL"])
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user}@127.0.0.1:{free_port()},{host}"
    found = postgres_url.settings_of(postgres_url.validate(parts._replace(netloc=netloc).geturl()))
    defaults = {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": False, "AUTOCOMMIT": True}
    wrapper = DatabaseWrapper({**found, **defaults, "TIME_ZONE": None, "TEST": {}})
    with psycopg.connect(**wrapper.get_connection_params()) as link:
        assert link.info.port == parts.port


def test_the_url_of_the_read_replica_leads_to_standbys_alone() -> None:
    for url, attrs in (
        ("postgresql://app@db/notify", "standby"),
        ("postgresql://app@db1,db2/other", "standby"),
        ("postgresql://app@db1,db2/notify?target_session_attrs=standby", "standby"),
        ("postgresql://app@pooler/notify?target_session_attrs=any", "any"),
    ):
        whole = service_urls.service_url(
            {"DATABASE_REPLICA_URL": url, "DATABASE_REPLICA_PASSWORD": _PASSWORD},
            "DATABASE_REPLICA_URL",
        )
        found = postgres_url.settings_of(postgres_url.validate_replica(whole), is_replica=True)
        assert (found["USER"], found["PASSWORD"]) == ("app", _PASSWORD)
        assert found["OPTIONS"]["target_session_attrs"] == attrs
        assert found["OPTIONS"]["tcp_user_timeout"] == 6_000


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://app:hidden@db/notify", "must begin with postgresql:// or postgres://"),
        ("postgresql:///notify", "has no host"),
        (
            "postgresql://app:hidden@db1,db2/x?target_session_attrs=any",
            "is no standby; use standby",
        ),
        ("postgresql://app:hidden@db/x?target_session_attrs=prefer-standby", "use standby"),
        ("postgresql://app:hidden@db/x?target_session_attrs=read-write", "use standby"),
    ],
)
def test_a_url_of_the_read_replica_that_cannot_work_is_told(url: str, said: str) -> None:
    with pytest.raises(InvalidEnvironment) as refused:
        environment.load({**os.environ, "DATABASE_REPLICA_URL": url})
    [line] = str(refused.value).splitlines()
    assert line.startswith("DATABASE_REPLICA_URL ")
    assert said in line
    assert "hidden" not in line


def test_without_a_read_replica_the_settings_have_one_database() -> None:
    code = "from notifyproj import settings as s; print(list(s.DATABASES), s.MIDDLEWARE[-1])"
    url = {"DATABASE_REPLICA_URL": "postgresql://app@replica/notify"}
    for given, databases, has_cookie in (
        ({}, "['default']", False),
        (url, "['default', 'replica']", True),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | given,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(databases)
        assert ("OwnWrites" in done.stdout) is has_cookie
