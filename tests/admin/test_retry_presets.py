"""Retry presets are data: read with their timetable, edited, added, and in force at once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core.models import NotificationType, RetryPreset
from notifications.core.rules.lane import Priority
from notifications.core.rules.retries import PRESETS, timetable
from notifications.core.store.cached import retry_presets
from providers.contract import Channel

LIST = reverse("admin:notifications_retrypreset_changelist")
ADD = reverse("admin:notifications_retrypreset_add")
HOURLY = {
    "name": "hourly",
    "base_seconds": "3600",
    "multiplier": "1",
    "cap_seconds": "3600",
    "attempts": "5",
    "jitter": "third",
}


@pytest.fixture(autouse=True)
def _no_cached_preset(db: None) -> Iterator[None]:  # noqa: ARG001 - the database first
    retry_presets.forget()
    yield
    retry_presets.forget()


def _page(name: str) -> str:
    return reverse("admin:notifications_retrypreset_change", args=[name])


def test_the_shipped_presets_are_rows_with_their_shipped_values(door: Client) -> None:
    assert {row.name: retry_presets.preset_of(row) for row in RetryPreset.objects.all()} == PRESETS
    page = door.get(LIST).content.decode()
    assert all(name in page for name in PRESETS)


def test_a_preset_shows_when_each_of_its_retries_comes(door: Client) -> None:
    page = door.get(_page("service")).content.decode()
    assert "1 s to 1.3 s" in page
    assert page.count("<rect ") == PRESETS["service"].attempts - 1
    assert "with a dead letter" in page


def test_patient_tries_quickly_and_then_each_four_to_five_minutes_for_four_hours() -> None:
    tries = timetable(PRESETS["patient"])
    assert tries[3].latest < dt.timedelta(minutes=3)
    assert {each.shortest for each in tries[4:]} == {dt.timedelta(minutes=4)}
    assert {each.longest for each in tries[4:]} == {dt.timedelta(minutes=5)}
    middle = (tries[-1].earliest + tries[-1].latest) / 2
    assert dt.timedelta(hours=3.9) < middle < dt.timedelta(hours=4.1)


def test_an_own_preset_is_added_and_chosen_by_a_type(door: Client) -> None:
    assert door.post(ADD, HOURLY).status_code == 302
    retry_presets.forget()
    chosen = retry_presets.preset_for(Priority.P1, Channel.SMS, chosen="hourly")
    assert (chosen.base, chosen.attempts) == (dt.timedelta(hours=1), 5)
    form = door.get(reverse("admin:notifications_notificationtype_add")).content.decode()
    assert "hourly" in form
    NotificationType.objects.create(name="INVOICE", retry_preset="hourly")
    assert door.post(f"{_page('hourly')[:-7]}delete/", {"post": "yes"}).status_code == 403


def test_an_edit_is_in_force_and_can_be_undone(door: Client) -> None:
    edit = {**HOURLY, "name": "worker", "base_seconds": "9", "cap_seconds": "30"}
    assert door.post(_page("worker"), edit).status_code == 302
    retry_presets.forget()
    assert retry_presets.every()["worker"].base == dt.timedelta(seconds=9)
    undo = {"action": "restore", "_selected_action": ["worker"]}
    assert door.post(LIST, undo).status_code == 302
    retry_presets.forget()
    assert retry_presets.every()["worker"] == PRESETS["worker"]


def test_a_shipped_preset_cannot_be_deleted(door: Client) -> None:
    assert door.post(f"{_page('worker')[:-7]}delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [{"attempts": "0"}, {"multiplier": "0.5"}, {"base_seconds": "-1"}, {"jitter": "much"}],
)
def test_a_value_that_cannot_work_is_refused(door: Client, wrong: dict[str, str]) -> None:
    assert door.post(ADD, {**HOURLY, **wrong}).status_code == 200
    assert not RetryPreset.objects.filter(name="hourly").exists()


@pytest.mark.usefixtures("door")
def test_a_preset_that_is_gone_leaves_the_preset_of_the_lane() -> None:
    assert retry_presets.preset_for(Priority.P1, Channel.SMS, chosen="gone") == PRESETS["service"]
