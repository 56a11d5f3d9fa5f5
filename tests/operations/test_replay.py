"""Dead letters are replayed: once, with a new idempotency key, and in turn with other producers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.core import clock
from notifications.core.delivery import deliver
from notifications.core.intake import accept
from notifications.core.models import (
    Contact,
    DeadLetter,
    Delivery,
    Notification,
)
from notifications.core.operations import replay
from notifications.core.rules import request
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.postgres import dead_letters, fair_queue
from notifications.core.store.postgres.fair_queue import Ask
from notifications.core.store.redis import state
from notifications.core.sweeps import due_rows
from tests.interleaving import key_being_stored
from tests.journey import (
    CHAIN,
    Accept,
    Reach,
    chain_statuses,
    deliver_chain,
    deliveries_of,
    status_and_reason,
)
from tests.sweeps.conftest import PUSH_LANE, replay_job

Outbox = Callable[[UUID], list[Any]]
_BURY = """
    INSERT INTO notifications_deadletter (delivery_id, mode, priority, channel, producer_id,
                                          recipient_id, provider, reason, detail, snapshot,
                                          created_at, resolution)
    SELECT gen_random_uuid(), 1, 2, 3, 1, 1, 'sandbox', 'permanent', '', '{}', now(), ''
    FROM generate_series(1, %s)
"""


def _letters_read() -> int:
    """Return the rows of dead letters that the transaction has read so far."""
    with connection.cursor() as running:
        running.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
            " WHERE relname = 'notifications_deadletter'"
        )
        [count] = running.fetchone()
    return int(count)


@pytest.fixture(autouse=True)
def _empty_state() -> None:
    state.client().flushdb()


def test_a_dead_letter_is_replayed_once_with_a_new_key(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    reach(sms="+15550000")
    [row] = deliveries_of(take(channels=["sms"]))
    deliver.deliver([row.id])
    Contact.objects.filter(address="+15550000").update(address="+15551234567")
    everything = LetterFilter()
    job = replay.start(everything, requested_by="tests", forced=False, renews_ttl=False)
    other = replay.start(everything, requested_by="tests", forced=False, renews_ttl=False)
    assert (job.total, other.total) == (1, 0)
    assert replay.run(job, limit=10).letters == 1
    assert replay.run(job, limit=10).letters == 0
    deliver.deliver([row.id])
    assert status_and_reason(row.id)[0] is Status.SENT
    # The refused key must not come back: a provider may remember it as refused.
    assert [each["idempotency_key"] for each in outbox(row.id)] == [f"{row.id}-1"]
    job.refresh_from_db()
    assert (job.replayed, job.skipped, job.finished_at is not None) == (1, 0, True)


@pytest.mark.usefixtures("outbox")
def test_an_unconfirmed_channel_does_not_stop_the_replay_of_the_last(
    reach: Reach, take: Accept
) -> None:
    reach(push="token", sms="+15554000000")
    answer = take(**CHAIN)
    deliver_chain(answer)
    Delivery.objects.update(due_at=TransactionNow() - dt.timedelta(seconds=1))
    due_rows.end_confirm_windows(limit=10)
    deliver_chain(answer)
    letters = LetterFilter()
    job = replay.start(letters, requested_by="tests", forced=False, renews_ttl=False)
    replay.run(job, limit=10)
    assert chain_statuses(answer) == [
        ("push", "unconfirmed", "unconfirmed"),
        ("sms", "queued", "replayed"),
    ]


@pytest.mark.usefixtures("outbox")
def test_a_replay_without_its_secrets_is_refused(reach: Reach, take: Accept) -> None:
    reach(sms="+15550000")
    [row] = deliveries_of(take(channels=["sms"]))
    deliver.deliver([row.id])
    letter = DeadLetter.objects.get()
    assert Notification.objects.get(id=row.notification_id).secrets is not None
    Notification.objects.filter(id=row.notification_id).update(secrets=None)
    with pytest.raises(replay.ReplayRefused, match="wiped"):
        replay.start(
            LetterFilter(ids=(letter.pk,)), requested_by="tests", forced=False, renews_ttl=False
        )


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
def test_a_dead_letter_refused_for_the_moment_stays_open(reach: Reach, take: Accept) -> None:
    reach(sms="+15550000")
    deliver.deliver([row.id for row in deliveries_of(take(channels=["sms"]))])
    Notification.objects.all().delete()  # as after retention
    letter = DeadLetter.objects.get()
    known = {"had_secrets": False, "variables": {"code": "1234", "name": "Maria"}}
    DeadLetter.objects.update(snapshot={**letter.snapshot, **known})
    everything = LetterFilter()
    with key_being_stored(
        letter.producer_id, Mode(letter.mode), f"{request.RESERVED_KEYS}replay-{letter.pk}"
    ):
        job = replay.start(everything, requested_by="tests", forced=False, renews_ttl=False)
        assert replay.run(job, limit=10).letters == 1
    letter.refresh_from_db()
    assert (letter.resolved_at, letter.resolution, letter.replay_job_id) == (None, "", None)
    job = replay.start(everything, requested_by="tests", forced=False, renews_ttl=False)
    assert replay.run(job, limit=10).letters == 1
    letter.refresh_from_db()
    assert letter.resolution == "replayed as new"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("outbox")
def test_each_letter_past_retention_is_accepted_in_a_transaction_of_its_own(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An acceptance locks recipient and files, so two of them could deadlock with an erasure."""
    reach(sms="+15550000")
    for _ in range(2):
        deliver.deliver([row.id for row in deliveries_of(take(channels=["sms"]))])
    Notification.objects.all().delete()  # as after retention
    known = {"had_secrets": False, "variables": {"code": "1234", "name": "Maria"}}
    for letter in DeadLetter.objects.all():
        letter.snapshot |= known
        letter.save()
    replayed: list[int] = []
    usual = accept.accept

    def accept_and_look(*arguments: Any) -> Any:  # noqa: ANN401 - as the function
        with connection.copy().cursor() as other:
            other.execute(
                "SELECT count(*) FROM notifications_deadletter WHERE resolution = 'replayed as new'"
            )
            replayed.append(other.fetchone()[0])
            other.connection.close()
        return usual(*arguments)

    monkeypatch.setattr(accept, "accept", accept_and_look)
    job = replay.start(LetterFilter(), requested_by="tests", forced=False, renews_ttl=False)
    assert replay.run(job, limit=10).letters == 2
    assert replayed == [0, 1]
    assert replay.run(job, limit=10).letters == 0
    job.refresh_from_db()
    assert (job.replayed, job.skipped, job.finished_at is not None) == (2, 0, True)


@pytest.mark.django_db
def test_a_batch_costs_as_many_queries_as_a_single_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instant = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: instant)  # no cache of a second ends
    costs = []
    for count in (1, 40):
        job, _ = replay_job(count)
        with CaptureQueriesContext(connection) as queries:
            assert replay.run(job, limit=100).letters == count
        costs.append(len(queries))
    assert costs[0] == costs[1]


@pytest.mark.django_db
def test_a_batch_of_a_job_that_has_just_started_reads_no_letter_behind_it() -> None:
    with connection.cursor() as running:
        running.execute(_BURY, [2_000])
        running.execute("ANALYZE notifications_deadletter")  # before the job: as in a real one
    job = replay.start(LetterFilter(), requested_by="tests", forced=False, renews_ttl=False)
    before = _letters_read()
    letters = dead_letters.next_of(job, limit=10)
    for each in letters:
        assert dead_letters.lock_of(job, each.pk) == [each]
    assert _letters_read() - before <= 3 * len(letters)
    assert job.total == 2_000


@pytest.mark.django_db
def test_a_replay_does_not_delay_another_producers_row() -> None:
    hour_ago = clock.now() - dt.timedelta(hours=1)
    fair_queue.note_taken(PUSH_LANE, last=hour_ago)  # the lane has a backlog of an hour
    job, rows = replay_job(30)
    replay.run(job, limit=100)
    [other] = fair_queue.places([Ask(PUSH_LANE, 2)], now=clock.now())
    before = Delivery.objects.filter(id__in=rows, due_at__lt=other)
    assert before.count() <= 1
