"""Operators watch, pause, resume and cancel bulk jobs."""

from __future__ import annotations

import datetime as dt

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import AuditEntry, BulkJob, BulkJobFigure, BulkJobRange, Producer
from notifications.core.rules.bulk_job import BulkJobState

LIST = reverse("admin:notifications_bulkjob_changelist")


@pytest.fixture
def job(db: None) -> BulkJob:  # noqa: ARG001 - asked for by name
    """A job that runs, with progress, reasons and two variants."""
    now = clock.now()
    made = BulkJob.objects.create(
        producer=Producer.objects.create(name="promotions"),
        name="Winter sale",
        state=BulkJobState.RUNNING,
        state_changed_at=now,
        audience={"attribute": "plan", "is": "pro"},
        type="PROMO",
        template_id="winter_sale",
        template=1,
        spread="first",
        starts_at=now - dt.timedelta(hours=1),
        started_at=now - dt.timedelta(hours=1),
        spread_seconds=36_000,
        variants=[
            {"name": "a", "template_id": "winter_sale", "template": 1, "percent": 50},
            {"name": "b", "template_id": "sale_b", "template": 2, "percent": 50},
        ],
        holdout_percent=5,
        winner_rule={"metric": "clicked", "sample_percent": 10, "after_seconds": 3600},
        abort_limits={"failed": 0.05, "minimum": 100},
        estimate=5_000_000,
        created_at=now,
        created_by="maria",
    )
    _fill(made)
    return made


def _fill(made: BulkJob) -> None:
    """Store the progress and the figures of the job."""
    BulkJobRange.objects.create(
        job=made,
        number=0,
        first=0,
        cursor=500,
        until=1_000,
        examined=1_250_000,
        accepted=1_000_000,
        left_out={"opted_out": 190_000, "no_contact": 50_000, "same_address": 10_000},
    )
    for variant, sent in (("a", 400_000), ("b", 300_000)):
        for name, count in (("accepted", 500_000), ("sent", sent), ("read", sent // 10)):
            BulkJobFigure.objects.create(
                job=made, variant=variant, kind="total", name=name, count=count
            )
        BulkJobFigure.objects.create(
            job=made, variant=variant, kind="status", name="sent", count=sent
        )


def page_of(job: BulkJob) -> str:
    return reverse("admin:notifications_bulkjob_change", args=[job.pk])


def test_the_page_has_progress_funnel_variants_and_reasons(door: Client, job: BulkJob) -> None:
    text = door.get(page_of(job)).content.decode()
    assert 'aria-valuenow="25"' in text
    assert "1,250,000 of about 5,000,000 recipients" in text
    assert '<td class="nc-num">700,000</td><td class="nc-num nc-quiet">70.0 %</td>' in text
    sentence = "About 5,000,000 recipients whose plan is pro get one of 2 variants, from "
    assert sentence in text
    assert "50 % get variant b (template sale_b)." in text
    assert "5 % of the recipients get no message, for comparison." in text
    assert "Starts now." not in text
    assert "190,000 had opted out, 50,000 had no valid contact, 10,000 shared the address" in text
    assert "Of 1,250,000 recipients examined so far, 1,000,000 have a message and 250,000" in text
    assert "10.0 % of the sent messages of variant a and 10.0 % of variant b were opened." in text
    assert "The difference is not significant (p\N{NO-BREAK SPACE}=" in text
    assert "Not examined yet, about" in text
    assert text.count("<svg viewBox") == 7
    assert "The job has a message to the same address already." in text
    assert "each mailbox, number, device or chat, also if several recipients share it" in text
    assert "has switched the topic or the channel off" in text
    assert "80.0 %" in text  # sent of variant a
    assert "Winner: by clicked, 1 h after a sample of 10 %." in text
    assert "about 500,000 an hour" in text
    assert "failed over 5 %, from 100 sent messages" in text
    assert 'data-refresh="2"' in text


def test_the_list_has_the_figures_of_each_job_with_a_fixed_number_of_queries(
    door: Client, job: BulkJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    instant = clock.monotonic()
    monkeypatch.setattr(clock, "monotonic", lambda: instant)  # no cache of a second ends
    first = job.pk
    door.get(LIST)
    with CaptureQueriesContext(connection) as few:
        door.get(LIST)
    for number in range(20):
        job.pk = clock.new_notification_id()
        job.name = f"job {number}"
        job.save(force_insert=True)
    with CaptureQueriesContext(connection) as many:
        text = door.get(LIST).content.decode()
    assert len(many) == len(few)
    assert "1,000,000 / 5,000,000" in text
    assert "job 19" in text
    assert "Winter sale" in door.get(LIST, {"state__exact": "running"}).content.decode()
    assert "Winter sale" not in door.get(LIST, {"state__exact": "paused"}).content.decode()
    assert "Winter sale" in door.get(LIST, {"q": "winter"}).content.decode()
    assert "Winter sale" in door.get(LIST, {"q": str(first)}).content.decode()


def test_a_job_is_paused_resumed_and_cancelled_with_a_reason(door: Client, job: BulkJob) -> None:
    for verb, state in (
        ("pause", BulkJobState.PAUSED),
        ("resume", BulkJobState.RUNNING),
        ("cancel", BulkJobState.CANCELLED),
    ):
        address = reverse(f"admin:notifications_bulkjob_{verb}", args=[job.pk])
        assert "<form" in door.get(address).content.decode()
        if verb != "resume":
            assert 'role="alert"' in door.post(address, {"reason": " "}).content.decode()
        assert door.post(address, {"reason": f"{verb} it"}).status_code == 302
        job.refresh_from_db()
        assert job.state == state
        assert job.state_changed_by == "operator"
        assert AuditEntry.objects.filter(operation=f"{verb}_bulk_job", by="operator").exists()
    text = door.get(page_of(job)).content.decode()
    assert "pause it" in text
    assert "cancel it" in text
    assert 'id="pause"' not in text


def test_a_change_that_the_state_forbids_is_told_and_changes_nothing(
    door: Client, job: BulkJob
) -> None:
    BulkJob.objects.filter(pk=job.pk).update(state=BulkJobState.ABORTED, state_reason="bounces")
    address = reverse("admin:notifications_bulkjob_pause", args=[job.pk])
    text = door.post(address, {"reason": "too late"}, follow=True).content.decode()
    assert "the bulk job is aborted" in text
    job.refresh_from_db()
    assert job.state == BulkJobState.ABORTED
    assert not AuditEntry.objects.exists()


def test_steering_needs_its_right(viewer: User, window: Client, job: BulkJob) -> None:
    address = reverse("admin:notifications_bulkjob_pause", args=[job.pk])
    assert window.get(page_of(job)).status_code == 200
    assert "Pause" not in window.get(page_of(job)).content.decode()
    assert window.post(address, {"reason": "no"}).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="change_bulkjob"))
    assert window.post(address, {"reason": "yes"}).status_code == 302


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel"])
def test_an_id_that_is_no_uuid_is_not_found(door: Client, verb: str) -> None:
    assert door.get(f"/admin/notifications/bulkjob/1/{verb}/").status_code == 404
