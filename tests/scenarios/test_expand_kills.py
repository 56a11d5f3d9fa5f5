"""Expanders that are killed at random skip no recipient and repeat no recipient.

Two expanders work on one job, and each gets SIGKILL after a random time; then two new ones go on.
Of recipients who share a mailbox, one gets the message. The benchmark `expand_kills` does the same
with a million recipients.
"""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.problems import Problem
from notifications.core.store.postgres import partitions
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.rules import request as requests
from notifyproj.devstack.demo.environment import until
from tests import expander_processes
from tests.journey import caller

__all__ = ["caller"]

_COUNT: Final = 20_000
_KILLS: Final = 20
_PAGE: Final = 250
"""Recipients: small pages, so that a kill comes at each stage of a page."""


_SHARED: Final = """
    UPDATE notifications_contact SET address = recipient_id %% %s || '@bulk.example'
"""
"""Divides the recipients among so many mailboxes; a household is in several ranges."""


def _database_url() -> str:
    url = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(url._replace(path=f"/{connection.settings_dict['NAME']}"))


def _new_job(caller: Caller) -> BulkJob:
    request = requests.parse({
        "name": "Kills",
        "audience": {"everyone": True},
        "type": "LIKE",
        "template_id": "otp",
        "variables": {"name": "Hi", "code": "1"},
        "channels": ["email"],
    })
    assert not isinstance(request, Problem)
    return create.create(caller, request, by="test")


@pytest.mark.parametrize("household", [1, 2], ids=["own mailboxes", "mailboxes of two"])
@pytest.mark.django_db(transaction=True)
def test_twenty_kills_leave_exactly_one_message_for_each_mailbox(
    caller: Caller, household: int
) -> None:
    partitions.ensure(clock.now().date(), days=1)
    with connection.cursor() as running:
        running.execute(expander_processes.PEOPLE, [_COUNT * household])
        running.execute(_SHARED, [_COUNT])
        running.execute("ANALYZE notifications_recipient, notifications_contact")
    job = _new_job(caller)
    expander_processes.allow_all(job.pk)
    with expander_processes.expanders(database_url=_database_url(), page=_PAGE) as processes:
        processes.kill_often(job.pk, _KILLS, recipients=_COUNT // _KILLS)
        assert 0 < expander_processes.accepted(job.pk) < _COUNT  # the kills came in the middle
        processes.start()
        until(
            lambda: BulkJob.objects.get(id=job.pk).state == BulkJobState.FINISHED,
            what="the job is finished",
        )
    assert expander_processes.counts(job.pk) == (_COUNT,) * 5
    assert expander_processes.accepted(job.pk) == _COUNT
