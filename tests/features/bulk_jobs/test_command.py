"""`manage.py bulk_job` lists, watches and changes bulk jobs."""

from __future__ import annotations

import io
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from notifications.core.models import AuditEntry, BulkJob
from tests.features.bulk_jobs.conftest import (
    NewJob,
    caller,
    expand_all,
    new_job,
    outbox,
    reach,
)
from tests.journey import Reach

__all__ = ["caller", "new_job", "outbox", "reach"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("outbox")]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*words: object, out: io.StringIO | None = None) -> str:
    written = out or io.StringIO()
    call_command("bulk_job", *map(str, words), stdout=written)
    return written.getvalue()


def test_a_job_is_listed_paused_resumed_and_cancelled_with_audit_entries(new_job: NewJob) -> None:
    job = new_job()
    assert str(job.pk) in run("list")
    assert "paused" in run("pause", job.pk, "--reason", "The price is wrong.")
    assert "running" in run("resume", job.pk)
    assert "cancelled" in run("cancel", job.pk)
    with pytest.raises(CommandError, match="cancelled"):
        run("resume", job.pk)
    entries = AuditEntry.objects.filter(by="manage.py").order_by("pk")
    changes = [each.operation for each in entries]
    assert changes == ["pause_bulk_job", "resume_bulk_job", "cancel_bulk_job"]


def test_a_watch_ends_with_the_job(new_job: NewJob, reach: Reach) -> None:
    reach("u1", email="u1@sandbox.example")
    reach("u2")
    job = new_job()
    expand_all(job)
    log = run("watch", job.pk)
    assert log.startswith("finished 100.0 % examined=2 accepted=1 left_out=1 sent=0 failed=0 ")
    BulkJob.objects.filter(pk=job.pk).update(name="\x1b[31mred")
    screen = run("watch", job.pk, out=_Terminal())
    assert "#" * 40 in screen
    assert "no_contact" in screen
    assert "[31mred" in screen
    assert "\x1b[31m" not in screen


def test_a_watch_of_a_cancelled_job_ends_with_an_error(new_job: NewJob) -> None:
    job = new_job()
    run("cancel", job.pk, "--reason", "The offer is over.")
    with pytest.raises(CommandError, match="The offer is over") as error:
        run("watch", job.pk)
    assert error.value.returncode == 1


@pytest.mark.parametrize("verb", ["watch", "resume", "cancel"])
def test_an_unknown_job_is_an_error(caller: object, verb: str) -> None:
    del caller
    with pytest.raises(CommandError, match="There is no bulk job"):
        run(verb, uuid4())
