"""Dead letters come back: one, some or all that match; never by somebody who may only look."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import AuditEntry, DeadLetter, ReplayJob
from notifications.core.rules.states import Status
from tests.admin.confirming import confirm, shown
from tests.admin.conftest import MakeDelivery

MakeLetters = Callable[[list[str]], list[DeadLetter]]
LIST = reverse("admin:notifications_deadletter_changelist")
REPLAY = reverse("admin:notifications_deadletter_replay")
DISCARD = reverse("admin:notifications_deadletter_discard")


def test_the_list_is_narrowed_by_reason(door: Client, make_letters: MakeLetters) -> None:
    timeout, permanent = make_letters(["ttl_exceeded", "permanent"])
    page = door.get(LIST, {"reason": "permanent"}).content.decode()
    assert f"/deadletter/{permanent.pk}/" in page
    assert f"/deadletter/{timeout.pk}/" not in page


def test_a_filter_that_is_nonsense_shows_nothing(door: Client, make_letters: MakeLetters) -> None:
    (letter,) = make_letters(["permanent"])
    page = door.get(LIST, {"channel": "carrier-pigeon"})
    assert page.status_code == 200
    assert f"/deadletter/{letter.pk}/" not in page.content.decode()
    assert door.get(REPLAY, {"channel": "carrier-pigeon"}).status_code == 400


def test_ticked_letters_are_asked_about_before_anything_happens(
    door: Client, make_letters: MakeLetters
) -> None:
    first, second, _ = make_letters(["permanent", "permanent", "permanent"])
    data = {"action": "replay", "_selected_action": [first.pk, second.pk]}
    page = door.post(LIST, data, follow=True).content.decode()
    assert "Replay 2 open dead letters?" in page
    assert not ReplayJob.objects.exists()


def test_all_that_match_means_the_filter(door: Client, make_letters: MakeLetters) -> None:
    first, *_ = make_letters(["permanent", "permanent", "ttl_exceeded"])
    data = {"action": "replay", "_selected_action": [first.pk], "select_across": "1"}
    asked = door.post(f"{LIST}?reason=permanent", data)
    assert "Replay 2 open dead letters?" in door.get(asked.headers["Location"]).content.decode()
    started = confirm(door, asked.headers["Location"], {"forced": "on"})
    job = ReplayJob.objects.get()
    assert (job.total, job.forced, job.renews_ttl, job.requested_by) == (2, True, False, "operator")
    assert started.headers["Location"].endswith(f"/replayjob/{job.pk}/change/")
    assert "0 of 2" in door.get(started.headers["Location"]).content.decode()


def test_a_letter_in_a_job_is_not_offered_again(door: Client, make_letters: MakeLetters) -> None:
    make_letters(["permanent"])
    confirm(door, f"{REPLAY}?reason=permanent")
    assert "None is open any more" in door.get(f"{REPLAY}?reason=permanent").content.decode()


def test_discarded_letters_leave_the_list(door: Client, make_letters: MakeLetters) -> None:
    first, second = make_letters(["permanent", "permanent"])
    confirm(door, f"{DISCARD}?ids={first.pk}")
    page = door.get(LIST).content.decode()
    assert f"/deadletter/{first.pk}/" not in page
    assert f"/deadletter/{second.pk}/" in page
    resolved = door.get(LIST, {"state": "resolved"}).content.decode()
    assert f"/deadletter/{first.pk}/" in resolved


def test_who_may_only_look_gets_no_buttons_and_no_pages(
    window: Client, make_letters: MakeLetters
) -> None:
    (letter,) = make_letters(["permanent"])
    page = window.get(LIST).content.decode()
    assert f"/deadletter/{letter.pk}/" in page
    assert 'value="replay"' not in page
    one = reverse("admin:notifications_deadletter_change", args=[letter.pk])
    assert f"{letter.pk}/replay" not in window.get(one).content.decode()
    for path in (f"{REPLAY}?ids={letter.pk}", f"{DISCARD}?ids={letter.pk}"):
        assert window.get(path).status_code == 403
        assert window.post(path).status_code == 403
    letter.refresh_from_db()
    assert letter.resolved_at is None


def run(*arguments: str) -> str:
    output = StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def test_the_command_counts_and_changes_nothing_when_dry(make_letters: MakeLetters) -> None:
    make_letters(["permanent", "permanent", "ttl_exceeded"])
    told = run("replay_dead", "--reason", "permanent", "--dry-run")
    assert "2  permanent" in told
    assert "ttl_exceeded" not in told
    assert not ReplayJob.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_command_replays_to_the_end(make_letters: MakeLetters) -> None:
    (letter,) = make_letters(["permanent"])
    told = run("replay_dead", "--reason", "permanent")
    assert "1 replayed, 0 skipped" in told
    letter.refresh_from_db()
    assert letter.resolution == "replayed"


def test_the_command_wants_a_filter(make_letters: MakeLetters) -> None:
    make_letters(["permanent"])
    with pytest.raises(CommandError, match="filter"):
        run("replay_dead")


def test_find_message_prints_what_it_finds(make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(status=Status.BOUNCED)
    assert str(delivery.id) in run("find_message", "u_789012")
    with pytest.raises(CommandError, match="Nothing"):
        run("find_message", "nobody")


def test_find_message_finds_by_variable_and_type_as_the_activity_does(
    make_delivery: MakeDelivery,
) -> None:
    new = make_delivery(variables={"order_id": "ORD-2"})
    old = make_delivery(variables={"order_id": "ORD-2"}, age=dt.timedelta(days=2))
    assert str(new.id) in run("find_message", "ORDER_SHIPPED")
    found = run("find_message", "ORD-2")
    assert str(new.id) in found
    assert str(old.id) not in found
    assert str(old.id) in run("find_message", "ORD-2", "--days", "36500")
    with pytest.raises(CommandError, match="--days N goes further back"):
        run("find_message", "ORD-3")


def test_a_letter_says_what_its_reason_means_and_leads_to_its_person(
    door: Client, make_letters: Callable[[list[str]], list[DeadLetter]]
) -> None:
    [letter] = make_letters(["poison"])
    page = reverse("admin:notifications_deadletter_change", args=[letter.pk])
    shown = door.get(page).content.decode()
    assert "Five claims in a row ended by the death of the worker or by an error." in shown
    assert reverse("admin:notifications_recipient_change", args=[letter.recipient_id]) in shown


def test_a_second_click_on_replay_names_the_first_job(
    door: Client, make_letters: MakeLetters
) -> None:
    make_letters(["permanent"])
    page = f"{REPLAY}?reason=permanent"
    fields = shown(door.get(page).content)
    first, second = door.post(page, fields), door.post(page, fields, follow=True)
    [job] = ReplayJob.objects.all()
    assert AuditEntry.objects.filter(operation="replay_dead_letters").count() == 1
    assert first.headers["Location"].endswith(f"/replayjob/{job.pk}/change/")
    assert "another replay job may have them" in second.content.decode()


def test_a_confirmation_holds_for_the_letters_of_the_page(
    door: Client, make_letters: MakeLetters
) -> None:
    first, second = make_letters(["permanent", "permanent"])
    page = f"{REPLAY}?reason=permanent"
    fields = shown(door.get(page).content)
    make_letters(["permanent"])
    door.post(page, fields)
    job = ReplayJob.objects.get()
    assert job.total == 2
    assert {each.pk for each in DeadLetter.objects.filter(replay_job=job)} == {first.pk, second.pk}


@pytest.mark.parametrize("page", [REPLAY, DISCARD])
def test_letters_that_the_page_has_not_counted_are_shown_first(
    door: Client, make_letters: MakeLetters, page: str
) -> None:
    before = clock.now() - dt.timedelta(minutes=1)
    make_letters(["permanent"])
    fields = shown(door.get(page).content)
    [late] = make_letters(["permanent"])  # of a transaction that began before the look
    DeadLetter.objects.filter(pk=late.pk).update(created_at=before)
    for changed in (
        fields,
        {"shown_at": "yesterday"},
        {"shown_at": "0001-01-01T00:00:00+00:00"},
        {"shown_count": "x"},
        {"shown_count": "", "shown_at": ""},
    ):
        given = {**fields, **changed}
        asked = door.post(page, given).content.decode()
        assert "the page is old, or more dead letters match now" in asked
        assert "2 open dead letters?" in asked
    assert DeadLetter.objects.filter(resolved_at=None, replay_job=None).count() == 2


def test_an_age_counts_from_the_moment_of_the_page(
    door: Client, make_letters: MakeLetters, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = make_letters(["permanent", "permanent"])
    hour = dt.timedelta(hours=1)
    DeadLetter.objects.filter(pk=old.pk).update(created_at=clock.now() - 25 * hour)
    DeadLetter.objects.filter(pk=new.pk).update(created_at=clock.now() - 23 * hour)
    page = f"{DISCARD}?before=day"
    fields = shown(door.get(page).content)
    assert fields["shown_count"] == "1"
    later = clock.now() + 2 * hour
    monkeypatch.setattr(clock, "now", lambda: later)
    door.post(page, fields)
    assert list(DeadLetter.objects.filter(resolved_at=None)) == [new]
