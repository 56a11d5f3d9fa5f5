"""Without the app nobody signs in by an identity provider, and the second factor stays required."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import Settings

from notifications.core import conf, deploy_checks, feature
from notifications.core.models import ExternalIdentity
from notifications.core.store.redis import sign_ins
from tests.features import without_feature

_BACKEND: Final = "notifications.features.single_sign_on.backend.SingleSignOn"


def _session(user: User, backend: str) -> Client:
    """Return a client with a session that began with single sign-on."""
    client = Client()
    client.force_login(user, backend=backend)
    session = client.session
    session[sign_ins.BY_PROVIDER] = True
    session.save()
    return client


@pytest.mark.django_db
def test_a_session_that_began_with_single_sign_on_ends(operator: User, settings: Settings) -> None:
    configured = settings.AUTHENTICATION_BACKENDS
    settings.AUTHENTICATION_BACKENDS = [*configured, _BACKEND]
    client = _session(operator, _BACKEND)
    assert client.get("/admin/").status_code == 200
    settings.AUTHENTICATION_BACKENDS = configured
    assert client.get("/admin/").headers["Location"].startswith("/admin/login/")


@pytest.mark.django_db
def test_a_check_names_the_accounts_that_keep_roles(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    role, _ = Group.objects.get_or_create(name="role: on-call")
    for user in (operator, User.objects.create_user("made-by-provider")):
        user.groups.add(role)
        for subject in ("anna", "anna-2"):
            ExternalIdentity.objects.create(
                user=user, issuer="https://id", subject=subject + user.username
            )
    assert deploy_checks.check_kept_roles(databases=["default"]) == []
    left = [each for each in feature.all_features() if each.label != "single_sign_on"]
    monkeypatch.setattr(feature, "all_features", lambda: left)
    [warning] = deploy_checks.check_kept_roles(databases=["default"])
    assert warning.msg.endswith(f"single sign-on: {operator.username}")
    assert deploy_checks.check_kept_roles() == []


@pytest.mark.django_db
def test_the_mark_of_a_session_replaces_no_second_factor(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    required = dataclasses.replace(conf.current(), requires_second_factor=True)
    monkeypatch.setattr(conf, "current", lambda: required)
    client = _session(operator, "django.contrib.auth.backends.ModelBackend")
    assert client.get("/admin/").headers["Location"] == "/admin/second-factor/"


def test_an_installation_without_passwords_does_not_start() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.features.without_feature", "single_sign_on"],
        env={
            **os.environ,
            **without_feature.PROVIDER,
            "WITHOUT_DATABASE": "none",
            "NOTIFY_PASSWORD_SIGN_IN": "no",
        },
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        check=False,
    )
    said = "NOTIFY_PASSWORD_SIGN_IN=no needs notifications.features.single_sign_on"
    assert (ran.returncode, said in ran.stderr.decode()) == (1, True)
