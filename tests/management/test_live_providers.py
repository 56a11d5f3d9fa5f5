"""Stories are played on the sandbox alone, whatever routes live messages have."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from django.core.management import call_command

from notifications.core.delivery import routing
from notifications.core.models import ProviderRoute
from notifications.core.store.cached import provider_overrides
from notifyproj.devstack.demo import __main__ as stories
from notifyproj.devstack.demo.environment import DemoEnvironment
from providers.contract import Channel
from providers.dry_run import DryRun

pytestmark = pytest.mark.django_db


class _Smtp(DryRun):
    name = "smtp"  # type: ignore[misc] # another provider than the null one


@pytest.fixture(autouse=True)
def _smtp(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**routing.providers_by_name(), "smtp": _Smtp()}
    monkeypatch.setattr(routing, "providers_by_name", lambda: known)
    provider_overrides.forget_routes()


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    provider_overrides.forget_routes()
    call_command("live_providers")
    return capsys.readouterr().out.splitlines()


def test_by_default_the_sandbox_takes_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert [line.split()[0] for line in _lines(capsys)] == ["sandbox"]


def test_a_row_in_admin_counts(capsys: pytest.CaptureFixture[str]) -> None:
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="smtp", rank=2)
    ProviderRoute.objects.create(channel=Channel.EMAIL, provider="sandbox", rank=1)
    assert "smtp email" in _lines(capsys)


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ("sandbox email sms\n", []),
        ("dry_run email\nsandbox sms\n", []),
        ("sandbox sms\nsmtp email\n", ["smtp (email)"]),
    ],
)
def test_stories_are_refused_for_any_other_provider(
    told: str, named: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[str] = []

    def answer(*_: object, **__: object) -> Any:  # noqa: ANN401 - a stand-in for CompletedProcess
        return type("Done", (), {"stdout": told})

    monkeypatch.setattr(subprocess, "run", answer)
    monkeypatch.setattr(DemoEnvironment, "from_environment", lambda _: played.append("scene"))
    monkeypatch.setattr(stories, "STORIES", {})
    monkeypatch.setattr("sys.argv", ["stories"])
    code = stories.main()
    if named:
        assert (code, played) == (stories.NOT_PLAYED, [])
        assert named[0] in capsys.readouterr().out
    else:
        assert (code, played) == (0, ["scene"])
