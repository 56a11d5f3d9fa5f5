"""Operators watch series, pause and resume them, find enrolments by recipient and stop one."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from notifications.core import clock
from notifications.core.intake.accept import Caller
from notifications.core.models import AuditEntry, Contact, NotificationType
from notifications.core.store.cached import notification_types
from notifications.features.series import versions
from notifications.features.series.models import Series, SeriesEnrolment, SeriesVersion
from notifications.features.series.rules.states import SeriesState
from tests.features.series.conftest import MakeSeries, enrol, make, post, send, sweep_once
from tests.journey import Reach, caller, reach

__all__ = ["caller", "make", "reach"]

LIST = reverse("admin:notifications_series_changelist")
ENROLMENTS = reverse("admin:notifications_seriesenrolment_changelist")
CONTEXT = "rua-azul-91"
"""A value in the context of each enrolment, which no page shows."""


@pytest.fixture
def series(make: MakeSeries, reach: Reach, caller: Caller) -> Series:
    """A series with two published versions, a draft, and an enrolment in each state.

    On version 1 stay `old`, in the wait, and `paid`, who reached the goal; on version 2 are `new`
    in the wait, `done` after the end, and `late` with a delayed step.
    """
    for name in ("old", "paid", "new", "done", "late"):
        reach(name, email=f"{name}@sandbox.example")
    made = make(
        send("welcome"),
        {"step": "wait", "days": 1},
        send("tips"),
        goal={"event": "order_paid"},
        trigger={"event": "signed_up"},
    )
    enrol(made, "old", "paid", address=CONTEXT)
    sweep_once()
    post("order_paid", "paid")
    branch = {"step": "condition", "if": {"event": "done"}, "then": [{"step": "exit"}]}
    content = {"steps": [branch, {"step": "wait", "hours": 3}, send("later")]}
    versions.save_draft(made, content)
    published = versions.publish(caller, made, by="maria")
    assert isinstance(published, Series)
    enrol(published, "new", "done", "late", address=CONTEXT)
    post("done", "done")
    for _ in range(2):  # an event wakes an enrolment, and the next sweep continues the enrolment
        sweep_once()
    SeriesEnrolment.objects.filter(user_id="late").update(problem="ZeroDivisionError")
    versions.save_draft(published, {"steps": [send("draft_step")]})
    return published


def page_of(series: Series) -> str:
    return reverse("admin:notifications_series_change", args=[series.pk])


def enrolment_page(user_id: str) -> str:
    pk = SeriesEnrolment.objects.get(user_id=user_id).pk
    return reverse("admin:notifications_seriesenrolment_change", args=[pk])


def step_of(page: str, number: str) -> str:
    """The words of a step in the picture, without the number."""
    step = page.partition(f'<li data-step="{number}">')[2]
    words = re.sub("<[^>]*>", " ", step.partition("</ul>")[0]).split()
    return " ".join(words[1 + len(number.split()) :])


def read(client: Client, address: str, **query: str) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_the_page_has_steps_versions_counts_exits_and_failures(
    door: Client, series: Series
) -> None:
    text = read(door, page_of(series))
    assert "<dd>2<small>for new enrolments" in text
    assert "<dd>3<small>enrolments, all versions" in text
    assert "If the event done was posted:" in text
    assert step_of(text, "1 then 1") == "End the enrolment. 0 here 1 left"
    assert step_of(text, "2") == "Wait 3 h. 2 here"
    assert "Version 2: 4 steps, 2 in progress, 0 finished" in text
    assert 'aria-label="Steps of version 1">1</a></td><td>older</td>' in text
    assert 'aria-label="Steps of version 3">3</a></td><td>draft</td>' in text
    assert "Reached the goal</td>" in text
    assert "Came to an exit step</td>" in text
    assert "ZeroDivisionError" in text
    assert 'id="pause"' in text
    assert 'id="resume"' not in text
    assert CONTEXT not in text


def test_each_version_has_a_picture_with_the_recipients_of_the_version(
    door: Client, series: Series
) -> None:
    first = read(door, page_of(series), version="1")
    assert step_of(first, "2") == "Wait 1 day. 1 here 1 left by the goal"
    assert "Goal: the event order_paid ends the series at any step" in first
    assert "<b>1</b> left by the goal" in first.partition('data-kind="goal"')[2]
    assert "draft_step" in read(door, page_of(series), version="3")
    for unknown in ("99", "x", "-1", "9" * 50, ""):
        assert "Wait 3 h." in read(door, page_of(series), version=unknown)


def test_a_rejection_that_ends_the_enrolment_is_counted_at_its_step(
    door: Client, make: MakeSeries, reach: Reach
) -> None:
    reach("ana", email="ana@sandbox.example")
    made = make(send("one", on_rejected="exit"), name="strict")
    enrol(made, "ana")
    NotificationType.objects.all().delete()
    notification_types.forget()
    sweep_once()
    assert "0 here 1 failed" in step_of(read(door, page_of(made)), "1")


def test_a_rejected_message_is_on_the_page_of_its_series_alone(
    door: Client, make: MakeSeries, reach: Reach
) -> None:
    reach("ana", email="ana@sandbox.example")
    made, other = make(send("one")), make(send("one"), name="other")
    enrol(made, "ana")
    NotificationType.objects.all().delete()
    notification_types.forget()
    sweep_once()
    assert "unknown type LIKE" in read(door, page_of(made))
    assert "message rejected" in read(door, enrolment_page("ana"))
    assert "No message was rejected lately." in read(door, page_of(other))


def test_a_definition_of_another_release_is_shown_as_it_is(door: Client, series: Series) -> None:
    version = SeriesVersion.objects.create(
        series=series,
        number=9,
        definition={"steps": [{"step": "x"}]},
        published_at=clock.now(),
    )
    Series.objects.update(current=version)
    SeriesEnrolment.objects.filter(user_id="new").update(version=version)
    text = read(door, page_of(series))
    assert "cannot read the definition" in text
    assert "&quot;step&quot;: &quot;x&quot;" in text
    assert read(door, enrolment_page("new"))


def test_the_list_has_the_figures_of_each_series_with_a_fixed_number_of_queries(
    door: Client, series: Series, monkeypatch: pytest.MonkeyPatch
) -> None:
    instant = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: instant)  # no cache of a second ends
    read(door, LIST)
    with CaptureQueriesContext(connection) as few:
        text = read(door, LIST)
    assert "onboarding" in text
    cells = {
        name: re.search(rf'<td class="field-{name}[^>]*>(.*?)</td>', text)
        for name in ("version", "in_progress", "ends", "exits")
    }
    shown = {name: re.sub("<[^>]*>", "", each[1]).strip() for name, each in cells.items() if each}
    assert shown == {"version": "2", "in_progress": "3", "ends": "0", "exits": "2"}
    for number in range(10):
        Series.objects.create(producer=series.producer, name=f"series {number}")
    with CaptureQueriesContext(connection) as many:
        read(door, LIST)
    assert len(many) == len(few)
    assert "onboarding" in read(door, LIST, q="boardi")
    assert "onboarding" not in read(door, LIST, state__exact="paused")


def test_a_series_is_paused_and_resumed_after_a_question(door: Client, series: Series) -> None:
    for verb, state in (("pause", SeriesState.PAUSED), ("resume", SeriesState.ACTIVE)):
        address = reverse(f"admin:notifications_series_{verb}", args=[series.pk])
        assert "<form" in read(door, address)
        assert Series.objects.get().state != state, "a question changes nothing"
        assert door.post(address).status_code == 302
        series.refresh_from_db()
        assert (series.state, series.state_changed_by) == (state, "operator")
        entry = AuditEntry.objects.get(operation=f"{verb}_series")
        assert (entry.by, entry.after["state"]) == ("operator", state)
    assert "pause_series" in read(door, page_of(series))


def test_a_change_that_the_state_forbids_is_told_and_changes_nothing(
    door: Client, series: Series
) -> None:
    versions.change_state(series, SeriesState.ARCHIVED, by="tests")
    address = reverse("admin:notifications_series_resume", args=[series.pk])
    assert (
        "is archived and cannot become active" in door.post(address, follow=True).content.decode()
    )
    assert Series.objects.get().state == SeriesState.ARCHIVED
    assert not AuditEntry.objects.filter(operation="resume_series").exists()


@pytest.mark.usefixtures("series")
def test_the_search_finds_the_enrolments_of_a_recipient_alone(door: Client) -> None:
    text = read(door, ENROLMENTS, q="paid")
    assert "reached the goal" in text
    assert f"/{SeriesEnrolment.objects.get(user_id='paid').pk}/change/" in text
    assert f"/{SeriesEnrolment.objects.get(user_id='old').pk}/change/" not in text
    assert "/change/?" not in read(door, ENROLMENTS, q="nobody").partition("result_list")[2]
    assert CONTEXT not in text


@pytest.mark.usefixtures("series")
def test_the_page_of_an_enrolment_has_the_history_and_no_address(door: Client) -> None:
    text = read(door, enrolment_page("old"))
    sent = SeriesEnrolment.objects.get(user_id="old").history.get(number=0)
    assert f"/admin/notifications/notification/{sent.notification_id}/change/" in text
    assert "1 (welcome)" in text
    assert "message accepted" in text
    assert "<dt>Continues</dt>" in text
    assert CONTEXT not in text
    assert Contact.objects.get(recipient__user_id="old").address not in text
    ended = read(door, enrolment_page("paid"))
    assert "reached the goal" in ended
    assert 'id="stop"' not in ended


@pytest.mark.usefixtures("series")
def test_an_enrolment_is_stopped_once_and_audited(door: Client) -> None:
    row = SeriesEnrolment.objects.get(user_id="old")
    address = reverse("admin:notifications_seriesenrolment_stop", args=[row.pk])
    assert "<form" in read(door, address)
    assert "The enrolment has ended." in door.post(address, follow=True).content.decode()
    row.refresh_from_db()
    assert (row.state, row.exit_reason, row.due_at) == ("exited", "requested", None)
    entry = AuditEntry.objects.get(operation="exit_enrolment")
    assert (entry.by, entry.after["exit_reason"]) == ("operator", "requested")
    assert CONTEXT not in str([entry.before, entry.after])
    assert "by operator" in read(door, enrolment_page("old"))
    assert "had ended before" in door.post(address, follow=True).content.decode()
    assert row.history.filter(outcome="exited").count() == 1


def test_a_viewer_reads_all_and_changes_nothing(
    viewer: User, window: Client, series: Series
) -> None:
    stop = reverse(
        "admin:notifications_seriesenrolment_stop",
        args=[SeriesEnrolment.objects.get(user_id="new").pk],
    )
    pause = reverse("admin:notifications_series_pause", args=[series.pk])
    for address, button in ((page_of(series), "pause"), (enrolment_page("new"), "stop")):
        text = read(window, address)
        assert f'id="{button}"' not in text
        assert f"/{button}/" not in text
    for address in (stop, pause):
        assert window.get(address).status_code == 403
        assert window.post(address).status_code == 403
    assert not AuditEntry.objects.filter(by="viewer").exists()
    viewer.user_permissions.add(Permission.objects.get(codename="change_series"))
    assert window.post(pause).status_code == 302
    assert window.post(stop).status_code == 403


def test_a_series_names_no_recipient_to_an_operator_without_the_right(
    viewer: User, window: Client, series: Series
) -> None:
    viewer.user_permissions.set(Permission.objects.filter(codename="view_series"))
    text = read(window, page_of(series))
    assert "Wait 3 h." in text
    assert "late" not in text.partition('id="steps"')[2].partition("</main>")[0].replace(
        "later", ""
    ).replace("template", "")
    assert window.get(ENROLMENTS).status_code == 403
    assert window.get(enrolment_page("new")).status_code == 403
