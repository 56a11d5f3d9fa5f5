"""A dry run leaves out the recipients whom the job leaves out because of a shared address."""

from __future__ import annotations

import pytest

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import BulkJobAddress, Preference
from notifications.core.rules.problems import Problem
from notifications.features.bulk_jobs import create, dry_run
from notifications.features.bulk_jobs.dry_run import DryRun
from notifications.features.bulk_jobs.rules import request as requests
from tests.journey import Reach

pytestmark = pytest.mark.django_db
_MAILBOX = "family@sandbox.example"


def _run(caller: Caller, *user_ids: str, **fields: object) -> DryRun:
    request = requests.parse({
        "name": "Try",
        "audience": {"everyone": True},
        "type": "LIKE",
        "template_id": "otp",
        "variables": {"name": "Hi", "code": "1"},
        "channels": ["email"],
        **fields,
    })
    assert not isinstance(request, Problem), request
    job = create.build(caller, request, by="test")
    return dry_run.run(job, samples=0, user_ids=user_ids)


def test_a_whole_dry_run_has_the_counts_of_the_job(
    caller: Caller, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dry_run, "_PAGE", 2)
    for number in range(5):
        reach(f"u{number}", email=_MAILBOX.upper() if number % 2 else _MAILBOX)
    reach("own", email="own@sandbox.example")
    found = _run(caller)
    assert (found.is_complete, found.examined, found.messages) == (True, 6, 2)
    assert found.left_out == {"same_address": 4}
    assert _run(caller, unique_by="recipient").messages == 6
    assert not BulkJobAddress.objects.exists()


def test_a_sample_finds_the_recipients_before_its_blocks(
    caller: Caller, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dry_run, "_PAGE", 2)
    monkeypatch.setattr(dry_run, "_MOST_WHOLE", 1)
    monkeypatch.setattr(dry_run, "_BLOCKS", 6)
    monkeypatch.setattr(clock, "jitter", lambda: 0.0)  # the blocks leave out nobody
    for number in range(6):
        reach(f"u{number}", email=_MAILBOX if number % 2 else f"u{number}@sandbox.example")
    found = _run(caller)
    assert (found.is_complete, found.examined, found.messages) == (False, 6, 4)
    assert found.left_out == {"same_address": 2}


def test_a_chosen_recipient_is_left_out_only_behind_a_message(caller: Caller, reach: Reach) -> None:
    outside = reach("outside", email=_MAILBOX)
    off = reach("off", email=_MAILBOX)
    Preference.objects.create(recipient=off, categories_off=["social"])
    for name in ("first", "second"):
        reach(name, email=_MAILBOX)
    audience = {"user_ids": ["off", "first", "second"]}
    found = _run(caller, "first", "second", audience=audience)
    assert [each.left_out for each in found.samples] == ["", "same_address"]
    assert outside.user_id not in str(found.samples)
