"""The log of an earlier system beside the deliveries of this service."""

from __future__ import annotations

import datetime as dt
import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from notifications.core import clock
from notifications.core.models import Notification
from notifications.core.rules import ids
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.features.moving import comparison
from tests.store.stored_rows import MakeDelivery

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _sends_nothing() -> None:
    """Replace the fixture of the package: these tests store deliveries."""


class Log:
    """A log in a file, and the command."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.lines = ["recipient,type,time,channel"]

    def add(self, *, minutes: int = 0, kind: str = "TEST", channel: str = "email") -> None:
        at = clock.now() + dt.timedelta(minutes=minutes)
        self.lines.append(f"maria,{kind},{at.isoformat()},{channel}")

    def compare(self, *options: str) -> tuple[str, bool]:
        """Return the report, and True if there was no difference."""
        self.place.write_text("\n".join(self.lines))
        told = io.StringIO()
        try:
            call_command("compare_sent", str(self.place), "--mode", "live", *options, stdout=told)
        except CommandError as error:
            return f"{told.getvalue()}{error}", False
        return told.getvalue(), True


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "sent.csv")


def test_messages_of_both_systems_are_pairs(log: Log, make_delivery: MakeDelivery) -> None:
    make_delivery(Status.SENT)
    make_delivery(Status.DELIVERED)
    log.add(minutes=-2)
    log.add(minutes=3)
    assert log.compare() == ("sent by both: 2\n", True)


def test_differences_are_told_with_line_and_reason(log: Log, make_delivery: MakeDelivery) -> None:
    make_delivery(Status.SUPPRESSED, reason=Reason.OPTED_OUT)
    log.add()
    log.add(channel="sms")
    log.add(kind="OTHER", minutes=60)
    told, is_equal = log.compare()
    assert not is_equal
    assert "line 2: maria, TEST, email: suppressed opted_out here" in told
    assert "line 3: maria, TEST, sms: not posted to this service" in told
    assert "not posted here: 2\nnot sent here: suppressed opted_out: 1" in told


def test_a_message_that_this_service_sent_alone_is_told(
    log: Log, make_delivery: MakeDelivery
) -> None:
    make_delivery(Status.SENT)
    make_delivery(Status.SENT)
    make_delivery(Status.SUPPRESSED)
    log.add()
    told, is_equal = log.compare()
    assert not is_equal
    assert "sent by both: 1\nsent here alone: 1" in told


def test_times_further_apart_are_no_pair(log: Log, make_delivery: MakeDelivery) -> None:
    make_delivery(Status.SENT)
    log.add(minutes=-20)
    assert "not posted here: 1" in log.compare()[0]
    assert log.compare("--minutes", "30") == ("sent by both: 1\n", True)


def test_pages_and_notifications_without_a_delivery(
    log: Log, make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_PAGE", 1)
    for _ in range(3):
        first = Notification.objects.get(pk=ids.notification_of(make_delivery(Status.SENT)))
        first.pk = clock.new_notification_id()
        first.save(force_insert=True)
        log.add()
    assert log.compare() == ("sent by both: 3\n", True)


def test_wrong_lines_and_other_files_are_told(log: Log) -> None:
    log.lines += ["maria,TEST,yesterday,email", "maria,TEST,2026-01-01T00:00:00,email"]
    log.add(channel="fax")
    told, is_equal = log.compare()
    assert not is_equal
    assert "no line that can be compared" in told
    log.add()
    told, _ = log.compare()
    assert "line 2: time: must be an instant" in told
    assert "line 3: time: must be an instant" in told
    assert "line 4: channel: must be one of" in told
    log.lines = ["who,what", "maria,TEST"]
    assert "the first line must name the columns" in log.compare()[0]
