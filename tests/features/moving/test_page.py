"""Each command of docs/moving.md runs with the exports of these tests."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command

from notifications.core import clock
from tests.features.moving import exports

pytestmark = pytest.mark.django_db
_PAGE: Final = Path(__file__).parents[3] / "docs" / "moving.md"
_COMMANDS: Final = re.findall(
    r"manage\.py ((?:import_from|compare_sent) [a-z][^`\n]*)", _PAGE.read_text()
)
_FILES: Final[dict[str, dict[str, Any]]] = {
    "novu": {
        "workflows.json": exports.NOVU_WORKFLOWS,
        "subscribers.json": exports.NOVU_SUBSCRIBERS,
    },
    "knock": {
        "knock/workflows/new-comment/workflow.json": exports.KNOCK_WORKFLOW,
        **{
            f"knock/workflows/new-comment/{name}": each
            for name, each in exports.KNOCK_FILES.items()
        },
        "users.json": exports.KNOCK_USERS,
    },
    "govuk_notify": {
        "templates.json": exports.GOVUK_TEMPLATES,
        "recipients.csv": exports.GOVUK_CSV,
    },
    "listmonk": {
        "subscribers.json": exports.LISTMONK_SUBSCRIBERS,
        "lists.json": exports.LISTMONK_LISTS,
        "templates.json": exports.LISTMONK_TEMPLATES,
    },
    "onesignal": {"users.csv.gz": exports.ONESIGNAL_CSV},
    "firebase": {"users.json": exports.FIREBASE_USERS, "tokens.csv": exports.FIREBASE_CSV},
    "ses": {"suppressed.json": exports.SES},
    "sendgrid": {
        "bounces.json": exports.SENDGRID_BOUNCES,
        "spam_reports.json": exports.SENDGRID_BOUNCES,
        "asm.json": exports.SENDGRID_ASM,
    },
    "postmark": {"suppressions.json": exports.POSTMARK},
    "csv": {"recipients.csv": exports.RECIPIENTS_CSV},
}


def test_the_page_has_a_command_for_each_vendor() -> None:
    assert {command.split()[1] for command in _COMMANDS} == {*_FILES, "sent.csv"}


@pytest.mark.parametrize("command", _COMMANDS)
def test_a_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, vendor, *rest = shlex.split(command)
    for path, content in _FILES.get(vendor, {}).items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        place.write_bytes(gzip.compress(text.encode()) if path.endswith(".gz") else text.encode())
    told = io.StringIO()
    if name == "compare_sent":
        log = f"recipient,type,time,channel\nu_1,NEWS,{clock.now().isoformat()},email\n"
        Path(vendor).write_text(log)
        with pytest.raises(CommandError, match="1 differences"):
            call_command(name, vendor, *rest, stdout=told)
        assert "not posted here: 1" in told.getvalue()
    else:
        call_command(name, vendor, *rest, stdout=told)
        assert "imported" in told.getvalue()
