"""A sender chooses producer, audience and start, and confirms each live bulk job."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from notifications.core.intake.validation import Caller
from notifications.core.models import Audience, BulkJob, NotificationType, Producer, Recipient
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.cached import notification_types
from notifications.features.audiences.rows import estimates
from notifications.features.audiences.rules.nodes import Expression
from notifications.features.bulk_jobs import create
from notifications.features.bulk_jobs.rules.request import BulkJobRequest
from tests.admin import confirming
from tests.features.bulk_jobs.admin.test_composer import ADD, check, confirmed

CHOICES = {
    "producer": "Choose the producer.",
    "audience": "Choose the audience.",
    "start": "Choose the start.",
    "type": "Choose the notification type.",
    "template_id": "Choose the template.",
}


def fields_of(page: str) -> list[tuple[str, str]]:
    """Return name and value of each hidden field of a page."""
    return re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)


@pytest.mark.usefixtures("draft")
def test_a_new_draft_has_no_producer_no_audience_and_no_start(door: Client) -> None:
    form = door.get(ADD).context["form"]
    assert [form[name].value() or "" for name in CHOICES] == [""] * len(CHOICES)
    for name in ("producer", "start"):
        first = next(iter(form[name].field.widget.choices))
        assert str(first[0]) == "", "a browser presets the first choice"


@pytest.mark.parametrize("field", CHOICES)
def test_a_missing_choice_is_named_and_nothing_typed_is_lost(
    door: Client, draft: dict[str, Any], field: str
) -> None:
    for wish in ("send", "confirmed"):
        text = door.post(ADD, {**draft, field: "", "do": wish}).content.decode()
        assert CHOICES[field] in text
        assert f"The job is not sent. {CHOICES[field]}" in text
        assert 'value="Winter sale"' in text
        assert 'value="2030-11-25T09:00"' in text
    assert not BulkJob.objects.exists()


def test_all_missing_choices_are_named_together(door: Client, draft: dict[str, Any]) -> None:
    missing = dict.fromkeys(CHOICES, "")
    text = door.post(ADD, {**draft, **missing, "do": "send"}).content.decode()
    for said in CHOICES.values():
        assert said in text
    live = check(door, draft, **missing)
    assert live["errors"] == {}, "an unfinished draft is not scolded"
    assert "The start is not chosen yet." in live["parts"]["summary"]
    assert "has a fault" not in live["parts"]["summary"]


@pytest.mark.usefixtures("draft")
def test_only_producers_that_may_send_bulk_jobs_are_offered(door: Client) -> None:
    Producer.objects.create(name="auth-service", priorities=[Priority.P0, Priority.P1])
    Producer.objects.create(name="stopped", is_active=False)
    choices = door.get(ADD).context["form"].fields["producer"].choices
    assert [str(label) for _, label in choices] == ["choose", "shop"]


def test_a_small_live_job_is_sent_after_a_page_that_shows_it(
    door: Client, draft: dict[str, Any]
) -> None:
    answer = door.post(ADD, {**draft, "preview_user": "u_1", "do": "send"})
    assert answer.status_code == 200
    assert not BulkJob.objects.exists(), "the page asks first"
    page = answer.content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Send Winter sale to 3 recipients?" in text
    for said in (
        "All 3 recipients get the template winter_sale, on Monday 25 November 2030 09:00 UTC",
        *("Producer shop", "Type PROMO, priority P3", "Template winter_sale"),
        *("3 recipients: everyone", "Monday 25 November 2030 09:00 UTC", "Estimated cost:"),
        "1 of 3 sampled recipients have the locale de and get en (email).",
    ):
        assert said in text, said
    assert "Ola Maria" in page
    fields = fields_of(page)
    assert ("seen", str(draft["seen"])) in fields
    sent = {**dict(fields), "audience": draft["audience"], "variables": draft["variables"]}
    assert confirmed(door, {**sent}).status_code == 302
    job = BulkJob.objects.get()
    assert (job.name, job.producer_id, str(job.pk)) == (
        *("Winter sale", draft["producer"]),
        draft["job_id"],
    )


def test_the_page_of_confirmation_leads_back_to_the_draft(
    door: Client, draft: dict[str, Any]
) -> None:
    text = door.post(ADD, {**draft, "do": "check"}).content.decode()
    assert 'id="composer"' in text
    assert 'value="Winter sale"' in text
    assert not BulkJob.objects.exists()


def test_a_test_job_needs_no_confirmation(door: Client, draft: dict[str, Any]) -> None:
    Recipient.objects.update(mode=Mode.TEST)
    assert door.post(ADD, {**draft, "mode": 2, "do": "send"}).status_code == 302
    assert BulkJob.objects.get().mode == Mode.TEST


def test_a_job_that_changed_meanwhile_is_not_sent(door: Client, draft: dict[str, Any]) -> None:
    assert door.post(ADD, {**draft, "do": "send"}).status_code == 200
    NotificationType.objects.all().delete()
    Recipient.objects.all().delete()
    text = confirmed(door, {**draft}).content.decode()
    assert "The audience is empty." in text
    assert not BulkJob.objects.exists()


def test_a_draft_that_was_sent_asks_no_second_time(door: Client, draft: dict[str, Any]) -> None:
    assert confirmed(door, {**draft}).status_code == 302
    again = door.post(ADD, {**draft, "do": "send"}, follow=True)
    assert "This draft was sent before." in again.content.decode()
    assert BulkJob.objects.count() == 1


def test_a_large_audience_needs_the_name_of_the_job(
    door: Client, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = door.post(ADD, {**draft, "do": "send"}).content.decode()
    assert 'name="confirmation"' not in asked
    monkeypatch.setattr("notifications.features.bulk_jobs.admin.compose_draft.LARGE", 2)
    asked = door.post(ADD, {**draft, "do": "send"}).content.decode()
    assert "more than 2 recipients" in asked
    wrong = confirmed(door, {**draft, "confirmation": "sale"}).content.decode()
    assert "Write the name of the job: Winter sale" in wrong
    assert not BulkJob.objects.exists()
    right = {**draft, "confirmation": "Winter sale"}
    assert confirmed(door, right).status_code == 302


def test_a_job_whose_audience_or_type_changed_is_shown_again(
    door: Client, draft: dict[str, Any]
) -> None:
    saved = Audience.objects.create(name="few", expression={"user_ids": ["u_0"]})
    fields = {**draft, "audience": '{"audience": "few"}'}
    seen = confirming.shown(door.post(ADD, {**fields, "do": "send"}).content)
    Audience.objects.filter(pk=saved.pk).update(expression={"everyone": True})
    again = door.post(ADD, {**fields, **seen, "do": "confirmed"})
    assert b"its audience or its type changed since this page was shown" in again.content
    assert b"3 recipients" in again.content
    NotificationType.objects.update(priority=Priority.P2)
    notification_types.forget()
    again = door.post(ADD, {**fields, **confirming.shown(again.content), "do": "confirmed"})
    assert b"its audience or its type changed" in again.content
    assert not BulkJob.objects.exists()
    seen = confirming.shown(again.content)
    assert door.post(ADD, {**fields, **seen, "do": "confirmed"}).status_code == 302
    assert BulkJob.objects.get().audience == {"everyone": True}


@pytest.mark.parametrize("at", ["count", "creation"])
def test_an_audience_that_changes_within_a_request_is_not_confirmed(
    door: Client, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """A count of a large audience takes seconds, in which another operator saves the audience."""
    saved = Audience.objects.create(name="few", expression={"user_ids": ["u_0"]})
    fields = {**draft, "audience": '{"audience": "few"}'}
    count, make = estimates.estimate, create.create

    def change() -> None:
        Audience.objects.filter(pk=saved.pk).update(expression={"everyone": True})

    def estimate(expression: Expression, *, mode: Mode) -> estimates.Estimate:
        found = count(expression, mode=mode)
        change()
        return found

    def create_job(caller: Caller, wanted: BulkJobRequest, *, by: str, job_id: UUID) -> BulkJob:
        change()
        return make(caller, wanted, by=by, job_id=job_id)

    if at == "count":
        monkeypatch.setattr(estimates, "estimate", estimate)
    seen = confirming.shown(door.post(ADD, {**fields, "do": "send"}).content)
    if at == "creation":
        monkeypatch.setattr(create, "create", create_job)
    again = door.post(ADD, {**fields, **seen, "do": "confirmed"})
    assert b"its audience or its type changed since this page was shown" in again.content
    assert not BulkJob.objects.exists()
