"""Django's own checks for a deployment find nothing with settings as in production."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest
from django.db import connections

from notifications.core import deploy_checks
from notifyproj import postgres_url


def test_check_deploy_is_clean() -> None:
    environ = os.environ | {
        "NOTIFY_PUBLIC_URL": "https://notify.example.com",
        "NOTIFY_SECRET_KEY": "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2,
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def _check(**changes: str) -> str:
    environ = os.environ | {"PGSSLMODE": "prefer"} | changes
    command = [sys.executable, "manage.py", "check", "--deploy"]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stderr


def test_check_deploy_warns_of_each_server_that_is_not_verified() -> None:
    said = _check(
        DATABASE_URL="postgresql://notify:hidden@db.example.com/notify?sslmode=require",
        DATABASE_REPLICA_URL="postgresql://notify:hidden@replica.example.com/notify",
        REDIS_URL="rediss://:hidden@state.example.com?ssl_check_hostname=false",
        CELERY_BROKER_URL="rediss://:hidden@broker.example.com?ssl_cert_reqs=none",
    )
    assert "the server of REDIS_URL may have the certificate of another host" in said
    assert "the server of CELERY_BROKER_URL may have any certificate" in said
    assert "DATABASE_URL does not verify the server" in said
    assert "DATABASE_REPLICA_URL does not verify the server" in said
    assert said.count("server_not_verified") == 2  # the log lines of each process's start
    assert "hidden" not in said


_VERIFIES: Final = "postgresql://notify@db.example.com/notify?sslmode=verify-full"


@pytest.mark.parametrize(
    ("url", "mode", "is_told"),
    [
        ("postgresql://notify@db.example.com/notify", "prefer", True),
        ("postgresql:///notify?host=/tmp,db.example.com", "prefer", True),
        (_VERIFIES, "prefer", False),
        ("postgresql://notify@db.example.com/notify", "verify-full", False),
        ("postgresql:///notify?host=/run/postgresql", "prefer", False),
    ],
)
def test_servers_that_are_verified_or_on_the_same_host_are_accepted(
    monkeypatch: pytest.MonkeyPatch, url: str, mode: str, *, is_told: bool
) -> None:
    monkeypatch.setenv("PGSSLMODE", mode)
    settings = postgres_url.settings_of(postgres_url.validate(url))
    monkeypatch.setattr(connections["default"], "settings_dict", settings)
    told = [each.msg for each in deploy_checks.check_servers() if "DATABASE_URL" in each.msg]
    assert bool(told) is is_told
