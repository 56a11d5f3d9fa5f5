"""Dead letters are grouped by cause, a group is replayed, and the job can be stopped."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import AuditEntry, DeadLetter, ReplayJob
from notifications.core.operations import replay
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.states import Status
from notifications.core.store.postgres import dead_letters
from tests.admin.conftest import MakeDelivery

MakeLetters = Callable[[list[str]], list[DeadLetter]]
LIST = reverse("admin:notifications_deadletter_changelist")
REPLAY = reverse("admin:notifications_deadletter_replay")


def shown(door: Client, page: str = LIST, **query: str) -> str:
    return " ".join(door.get(page, query).content.decode().split())


def test_equal_letters_are_one_group_with_count_spark_line_and_newest_detail(
    door: Client, make_letters: MakeLetters
) -> None:
    letters = make_letters(["permanent", "permanent", "ttl_exceeded"])
    DeadLetter.objects.filter(pk=letters[0].pk).update(
        created_at=clock.now() - dt.timedelta(hours=3), detail="older"
    )
    DeadLetter.objects.filter(pk=letters[1].pk).update(detail="400: unknown sender")
    page = shown(door)
    [group] = re.findall(r"<tr>(?:(?!</tr>).)*reason=permanent(?:(?!</tr>).)*</tr>", page)
    assert 'data-label="letters">2</td>' in group
    assert "2 in the last 24 hours, 1 in the last hour" in group
    assert group.count("<rect ") == 2
    assert "400: unknown sender" in group
    assert "3 open; bars are the last 24 hours" in page


def test_a_group_leads_to_the_question_for_exactly_its_letters(
    door: Client, make_letters: MakeLetters
) -> None:
    make_letters(["permanent", "permanent", "ttl_exceeded"])
    [link] = re.findall(rf'href="({REPLAY}\?reason=permanent[^"]*)"', shown(door))
    assert "Replay 2 open dead letters?" in shown(door, link.replace("&amp;", "&"))


def test_letters_of_a_job_and_resolved_letters_are_in_no_group(make_letters: MakeLetters) -> None:
    first, second, _ = make_letters(["permanent", "permanent", "permanent"])
    replay.start(LetterFilter(ids=(first.pk,)), requested_by="x", forced=False, renews_ttl=False)
    DeadLetter.objects.filter(pk=second.pk).update(resolved_at=clock.now())
    assert [cause.letters for cause in dead_letters.causes().groups] == [1]


def test_a_bounded_count_says_so(door: Client, make_letters: MakeLetters) -> None:
    make_letters(["permanent", "permanent", "permanent"])
    with patch.object(dead_letters, "CAUSES_COUNTED", 2):
        assert "2+ open" in shown(door)


def test_a_filtered_list_has_no_groups(door: Client, make_letters: MakeLetters) -> None:
    make_letters(["permanent"])
    assert 'id="causes"' in shown(door)
    assert 'id="causes"' not in shown(door, reason="permanent")


def test_a_viewer_gets_no_link_to_replay_a_group(window: Client, make_letters: MakeLetters) -> None:
    make_letters(["permanent"])
    page = shown(window)
    assert 'id="causes"' in page
    assert REPLAY not in page


def test_a_job_is_stopped_and_the_rest_stays_open(door: Client, make_letters: MakeLetters) -> None:
    letters = make_letters(["permanent"] * 3)
    job = replay.start(
        LetterFilter(reason="permanent"), requested_by="x", forced=False, renews_ttl=False
    )
    assert replay.run(job, limit=1).letters == 1
    stop = reverse("admin:notifications_replayjob_stop", args=[job.pk])
    page = reverse("admin:notifications_replayjob_change", args=[job.pk])
    assert stop in shown(door, page)
    assert "stay open and can be replayed later" in shown(door, stop)
    assert ReplayJob.objects.get().finished_at is None
    door.post(stop)
    assert replay.run(job, limit=10).letters == 0
    done = shown(door, page)
    assert "Stopped <small>1 of 3</small>" in done
    assert "UTC by operator" in done
    assert stop not in done
    rest = DeadLetter.objects.filter(resolved_at=None, replay_job=None)
    assert rest.count() == len(letters) - 1
    assert AuditEntry.objects.get(operation="stop_replay_job").by == "operator"


def test_a_viewer_stops_no_job(window: Client, make_letters: MakeLetters) -> None:
    make_letters(["permanent"])
    job = replay.start(LetterFilter(), requested_by="x", forced=False, renews_ttl=False)
    stop = reverse("admin:notifications_replayjob_stop", args=[job.pk])
    assert window.post(stop).status_code == 403
    assert stop not in shown(window, reverse("admin:notifications_replayjob_change", args=[job.pk]))


@pytest.mark.parametrize(("count", "text"), [(2, "2+ deliveries"), (3, "2 deliveries")])
def test_a_count_that_is_a_cap_says_so(
    door: Client, make_delivery: MakeDelivery, count: int, text: str
) -> None:
    for _ in range(2):
        make_delivery(status=Status.UNKNOWN)
    page = f"{reverse('admin:notifications_delivery_changelist')}?status__exact=14"
    with patch("notifications.core.admin.base.COUNTED", count):
        assert text in shown(door, page)


def test_an_empty_list_that_nobody_adds_to_offers_nothing_to_add(door: Client) -> None:
    page = shown(door)
    assert "There are no dead letters." in page
    assert "(Show all)" not in page
    assert "Create a new item" not in page
