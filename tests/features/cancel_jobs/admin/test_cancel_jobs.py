"""Operators cancel many messages: counts before, progress after, and a stop."""

from __future__ import annotations

import datetime as dt

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.postgres.functions import TransactionNow
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import (
    AuditEntry,
    BulkJob,
    CancelJob,
    Delivery,
    NotificationType,
    Producer,
    Template,
)
from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status
from notifications.features.cancel_jobs import jobs, sweep
from tests.admin import confirming
from tests.admin.conftest import MakeDelivery

ADD = reverse("admin:notifications_canceljob_add")
LIST = reverse("admin:notifications_canceljob_changelist")
ACTIVITY = reverse("admin:notifications_activity")
FIELDS = {"type": "ORDER_SHIPPED"}


def test_the_counts_come_first_and_the_progress_after(
    door: Client, make_delivery: MakeDelivery
) -> None:
    row = make_delivery(status=Status.QUEUED)
    Delivery.objects.filter(pk=row.pk).update(due_at=TransactionNow())
    question = door.post(ADD, FIELDS)
    assert "Cancel 1 notification?" in question.content.decode()
    assert not CancelJob.objects.exists()
    answer = confirming.answer(door, ADD, {**FIELDS}, asks={}, by="confirmed=1")
    page = door.get(answer.headers["Location"]).content.decode()
    assert "Running" in page
    assert 'data-refresh="2"' in page
    sweep.run_once(now=clock.now(), limit=20)
    page = door.get(answer.headers["Location"]).content.decode()
    assert "Finished" in page
    assert 'data-refresh="2"' not in page
    row.refresh_from_db()
    assert row.status == Status.CANCELLED
    assert "type ORDER_SHIPPED" in door.get(LIST).content.decode()
    assert AuditEntry.objects.get(operation="cancel_notifications").by == "operator"


def test_a_selection_and_a_filter_of_activity_lead_to_the_form(
    door: Client, make_delivery: MakeDelivery
) -> None:
    row = make_delivery(status=Status.QUEUED)
    notification = ids.notification_of(row.pk)
    page = door.get(ACTIVITY, {"type": "ORDER_SHIPPED"}).content.decode()
    assert f'value="{notification}"' in page
    assert f"{ADD}?type=ORDER_SHIPPED" in page
    assert f"{ADD}?" not in door.get(ACTIVITY, {"provider": "sandbox"}).content.decode()
    form = door.get(ADD, {"ids": [str(notification), str(row.pk)]}).context["form"]
    assert form["ids"].value() == f"{notification}\n{row.pk}"


def test_types_and_templates_are_completed_and_listed(door: Client) -> None:
    NotificationType.objects.create(name="ORDER_SHIPPED", priority=Priority.P1)
    Template.objects.create(template_id="welcome")
    page = door.get(ADD).content.decode()
    assert '<datalist id="id_type_names"><option value="ORDER_SHIPPED"' in page
    assert '<option value="" selected>every template</option>' in page
    assert '<option value="welcome">welcome</option>' in page
    again = door.post(ADD, {"template_id": "gone", "since": "never"}).content.decode()
    assert '<option value="gone" selected>' in again


def test_a_job_is_stopped_after_a_question(door: Client) -> None:
    confirming.answer(door, ADD, {**FIELDS}, asks={}, by="confirmed=1")
    job = CancelJob.objects.get()
    stop = reverse("admin:notifications_canceljob_stop", args=[job.pk])
    assert "stay cancelled" in door.get(stop).content.decode()
    job.refresh_from_db()
    assert job.finished_at is None
    door.post(stop)
    job.refresh_from_db()
    assert job.is_stopped
    assert AuditEntry.objects.filter(operation="stop_cancel_job").exists()


def test_the_job_of_a_cancelled_bulk_job_is_not_stopped(door: Client) -> None:
    confirming.answer(door, ADD, {**FIELDS}, asks={}, by="confirmed=1")
    job = CancelJob.objects.get()
    stop = reverse("admin:notifications_canceljob_stop", args=[job.pk])
    page = reverse("admin:notifications_canceljob_change", args=[job.pk])
    assert stop in door.get(page).content.decode()
    now, producer = clock.now(), Producer.objects.create(name="web")
    job.bulk_job = BulkJob.objects.create(
        producer=producer, audience={}, template=1, starts_at=now, created_at=now
    )
    job.save()
    assert stop not in door.get(page).content.decode()
    answer = door.post(stop, follow=True)
    assert "cannot be stopped." in answer.content.decode()
    job.refresh_from_db()
    assert job.finished_at is None


def test_a_wrong_form_starts_nothing(door: Client) -> None:
    for fields in ({}, {"ids": "no-id"}, {"metadata": "campaign"}):
        page = confirming.answer(door, ADD, {**fields}, asks={}, by="confirmed=1")
        assert 'role="alert"' in page.content.decode()
    assert not CancelJob.objects.exists()


def test_cancelling_needs_its_right(viewer: User, window: Client) -> None:
    assert window.get(LIST).status_code == 200
    assert confirming.answer(window, ADD, {**FIELDS}, asks={}, by="confirmed=1").status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="cancel_notification"))
    assert confirming.answer(window, ADD, {**FIELDS}, asks={}, by="confirmed=1").status_code == 302


def test_what_was_accepted_after_the_page_is_not_cancelled(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = confirming.shown(door.post(ADD, FIELDS).content)
    moment = dt.datetime.fromisoformat(seen["shown_at"])
    later = clock.now() + dt.timedelta(minutes=5)
    monkeypatch.setattr(clock, "now", lambda: later)
    door.post(ADD, {**FIELDS, **seen, "confirmed": "1"})
    job = CancelJob.objects.get()
    assert ids.time_of(job.until) - moment <= dt.timedelta(milliseconds=1)


def test_what_was_accepted_during_the_count_is_not_cancelled(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, now = jobs.preview, clock.now

    def preview(wanted: jobs.CancelFilter) -> jobs.Preview:
        found = count(wanted)
        monkeypatch.setattr(clock, "now", lambda: now() + dt.timedelta(seconds=5))
        return found

    monkeypatch.setattr(jobs, "preview", preview)
    seen = confirming.shown(door.post(ADD, FIELDS).content)
    assert dt.datetime.fromisoformat(seen["shown_at"]) <= now()


def test_a_confirmation_without_a_page_asks(door: Client) -> None:
    assert b"Cancel 0 notifications?" in door.post(ADD, {**FIELDS, "confirmed": "1"}).content
    assert not CancelJob.objects.exists()
