"""A bulk job reaches a mailbox, number, device or chat once, unless the job says otherwise."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from uuid import uuid4

import pytest

from notifications.core import clock
from notifications.core.models import (
    BulkJob,
    BulkJobAddress,
    BulkJobPace,
    BulkJobRange,
    Delivery,
    Notification,
    Preference,
    Recipient,
    Suppression,
)
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.templates import contents
from notifications.core.store.templates import versions
from notifications.core.sweeps import housekeeping
from notifications.features.bulk_jobs import changes, expand, ranges, stages, sweep
from notifications.features.bulk_jobs import rows as bulk_rows
from notifications.features.bulk_jobs.expand import Expanded
from notifications.features.bulk_jobs.rules import variants
from providers.contract import Channel
from tests.features.bulk_jobs.conftest import (
    NewJob,
    caller,
    expand_all,
    expand_at_once,
    new_job,
    outbox,
    reach,
    wide_lanes,
)
from tests.journey import Reach

__all__ = ["caller", "new_job", "outbox", "reach", "wide_lanes"]

pytestmark = pytest.mark.django_db
_MAILBOX = "family@sandbox.example"


def _household(reach: Reach, count: int, **addresses: str) -> list[int]:
    """Create recipients with the same addresses; the default is one mailbox."""
    shared = addresses or {"email": _MAILBOX}
    return [reach(f"u{n}", **shared).pk for n in range(count)]


def _recipients(job: BulkJob) -> list[int]:
    rows = Notification.objects.filter(bulk_job_id=job.pk)
    return sorted(rows.values_list("recipient_id", flat=True))


def _left_out(job: BulkJob) -> dict[str, int]:
    parts = BulkJobRange.objects.filter(job=job)
    return dict(sum((Counter(part.left_out) for part in parts), Counter[str]()))


def test_the_first_recipient_of_a_mailbox_gets_the_message(new_job: NewJob, reach: Reach) -> None:
    first = reach("d1", email=_MAILBOX)
    reach("d2", email=_MAILBOX)
    reach("d3", email=_MAILBOX.upper())
    own = reach("d4", email="d4@sandbox.example")
    job = new_job(audience={"user_ids": ["d1", "d2", "d3", "d4", "d4"]})
    expand_all(job)
    assert _recipients(job) == [first.pk, own.pk]
    assert _left_out(job) == {"same_address": 2}
    [part] = BulkJobRange.objects.filter(job=job)
    assert (part.examined, part.accepted) == (4, 2)


def _template(*channels: Channel) -> str:
    words = [contents.words(channel, "en", title="Sale", body="Today") for channel in channels]
    versions.publish(versions.draft("sale", contents.content(words), by="t"), by="t")
    return "sale"


@pytest.mark.parametrize(
    ("channel", "address", "count"),
    [
        ("sms", "+4915112345678", 1),
        ("push", "token-of-a-tablet", 1),
        ("webhook", "https://crm.example/hook", 3),
    ],
)
def test_only_a_webhook_gets_the_message_of_each_recipient(
    new_job: NewJob, reach: Reach, channel: str, address: str, count: int
) -> None:
    people = _household(reach, 3, **{channel: address})
    template = _template(Channel.from_label(channel))
    job = new_job(channels=[channel], template_id=template, variables={})
    expand_all(job)
    assert _recipients(job) == people[:count]


def test_each_recipient_has_an_inbox(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 3)
    job = new_job(channels=["in_app"], template_id=_template(Channel.IN_APP), variables={})
    expand_all(job)
    assert _recipients(job) == people


def test_a_job_that_is_unique_by_recipient_writes_to_each(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 3)
    job = new_job(unique_by="recipient")
    expand_all(job)
    assert (_recipients(job), _left_out(job)) == (people, {})
    assert not BulkJobAddress.objects.exists()


def test_two_jobs_reach_a_mailbox_each(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 2)
    for _ in range(2):
        job = new_job()
        expand_all(job)
        assert _recipients(job) == people[:1]


def test_a_recipient_without_a_message_takes_no_address(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 3)
    Preference.objects.create(recipient_id=people[0], categories_off=["social"])
    job = new_job()
    expand_all(job)
    assert _recipients(job) == people[1:2]
    assert _left_out(job) == {"opted_out": 1, "same_address": 1}


def test_an_address_of_the_suppression_list_is_not_taken(new_job: NewJob, reach: Reach) -> None:
    _household(reach, 2)
    Suppression.objects.create(channel=Channel.EMAIL, address=_MAILBOX, reason="complaint")
    job = new_job()
    expand_all(job)
    assert _left_out(job) == {"suppression_list": 2}


def test_a_channel_with_an_own_address_is_used(new_job: NewJob, reach: Reach) -> None:
    people = [reach(f"u{n}", email=_MAILBOX, sms=f"+491511234567{n}").pk for n in range(2)]
    job = new_job(channels=["email", "sms"], delivery="all")
    expand_all(job)
    assert _recipients(job) == people
    rows = Delivery.objects.order_by("id").values_list("recipient_id", "channel")
    assert sorted(rows) == [
        (people[0], Channel.SMS),
        (people[0], Channel.EMAIL),
        (people[1], Channel.SMS),
    ]


def test_an_address_of_a_page_before_is_taken(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 5)
    job = new_job()
    expand_all(job, limit=1)
    assert _recipients(job) == people[:1]
    assert _left_out(job) == {"same_address": 4}


def test_a_page_that_is_undone_gives_its_addresses_back(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = _household(reach, 2)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    insert = bulk_rows.insert

    def insert_late(messages: list[bulk_rows.NewMessage], *, now: dt.datetime) -> None:
        insert(messages, now=now)
        BulkJobRange.objects.filter(id=part).update(cursor=10**9)

    with monkeypatch.context() as late:
        late.setattr(bulk_rows, "insert", insert_late)
        assert expand.expand_page(part) == Expanded()
    assert not BulkJobAddress.objects.exists()
    expand_all(job)
    assert _recipients(job) == people[:1]


def test_a_paused_and_resumed_job_reaches_a_mailbox_once(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 3)
    job = new_job()
    [part] = stages.open_ranges(job, clock.now())
    expand.expand_page(part, limit=1)
    changes.pause(job.pk, by="ada", reason="Look.")
    housekeeping.run_once(now=clock.now(), limit=100)
    changes.resume(job.pk, by="ada")
    expand_all(BulkJob.objects.get(pk=job.pk))
    assert _recipients(job) == people[:1]


def test_a_row_that_postgres_refuses_leaves_the_address_to_the_next_recipient(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = _household(reach, 3)
    job = new_job()
    insert = bulk_rows.insert

    def poison(messages: list[bulk_rows.NewMessage], *, now: dt.datetime) -> None:
        bad = '{"x": "\\u0000"}'
        changed = [
            each._replace(variables=bad) if each.recipient_id == people[0] else each
            for each in messages
        ]
        insert(changed, now=now)

    monkeypatch.setattr(bulk_rows, "insert", poison)
    expand_all(job)
    assert _recipients(job) == people[1:2]
    assert _left_out(job) == {"failed": 1, "same_address": 1}


def test_the_sample_and_all_others_of_an_ab_test_share_the_addresses(
    new_job: NewJob, reach: Reach
) -> None:
    people = _household(reach, 60)
    job = new_job(
        variants=[{"name": "plain", "percent": 50}, {"name": "bold", "percent": 50}],
        winner={"metric": "clicked", "sample_percent": 20, "after_seconds": 60},
    )
    expand_all(job)
    first = next(each for each in people if variants.is_in_sample(job, each))
    assert _recipients(job) == [first]
    sweep.run_once(now=clock.now(), limit=10)
    BulkJobPace.objects.filter(job=job).update(sample_ends_at=clock.now())
    sweep.run_once(now=clock.now(), limit=10)
    housekeeping.run_once(now=clock.now(), limit=100)
    job.refresh_from_db()
    assert job.winner
    expand_all(job)
    assert job.state == BulkJobState.FINISHED
    assert _recipients(job) == [first]
    assert _left_out(job) == {"same_address": 59}


def test_recipients_of_two_timezones_share_a_mailbox(new_job: NewJob, reach: Reach) -> None:
    people = _household(reach, 4)
    for number, zone in enumerate(("Asia/Tokyo", "Europe/Berlin") * 2):
        Recipient.objects.filter(pk=people[number]).update(timezone=zone)
    job = new_job(send_at_local="09:00")
    BulkJobRange.objects.filter(job=job).update(starts_at=clock.now())
    expand_all(job)
    assert len(_recipients(job)) == 1
    assert _left_out(job) == {"same_address": 3}
    parts = BulkJobRange.objects.filter(job=job)
    assert sum(part.examined for part in parts) == 4


@pytest.mark.django_db(transaction=True)
def test_expanders_at_once_reach_each_mailbox_once(
    new_job: NewJob, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "SMALLEST", 20)
    for number in range(100):
        reach(f"u{number}", email=f"box{number % 10}@sandbox.example")
    job = new_job()
    assert BulkJobRange.objects.filter(job=job).count() > 1
    expand_at_once(job, limit=7)
    assert len(_recipients(job)) == 10
    assert _left_out(job) == {"same_address": 90}


def test_the_addresses_of_an_ended_job_are_deleted(new_job: NewJob, reach: Reach) -> None:
    for number in range(5):
        reach(f"u{number}", email=f"u{number}@sandbox.example")
    running = new_job()
    for _ in range(2):
        expand_all(new_job())
    expand.expand_page(stages.open_ranges(running, clock.now())[0])
    deleted = uuid4()  # a job that was deleted while a page was stored
    BulkJobAddress.objects.create(job_id=deleted, digest=b"0123456789abcdef")
    assert BulkJobAddress.objects.count() == 16
    housekeeping.run_once(now=clock.now(), limit=2)
    left = Counter(BulkJobAddress.objects.values_list("job", flat=True))
    assert left == {running.pk: 5}
